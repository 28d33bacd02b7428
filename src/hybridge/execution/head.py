"""From evidence to log-odds: a sum of small trees (R5).

Each tree asks the same few yes-or-no questions of every answer and adds one number, which depends
on what was said to all of them; the sum is the log-odds that the answer is right. Fitted by
`hybridge.pipeline.confidence`, whose asset says on what and how good it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Self

from msgspec import Struct

from hybridge.execution.evidence import NAMES
from hybridge.learning.isotonic import Knots

SHARED = "shared"
"""Whose calibration holds for weights that nobody measured."""


class Tree(Struct, frozen=True):
    """Three questions: is this feature above this threshold?"""

    features: tuple[int, int, int]
    above: tuple[float, float, float]
    values: tuple[float, ...]
    """Eight, by the three answers; the first is the highest bit."""


class Head(Struct, frozen=True):
    """What is fitted: the trees, and curves from log-odds to confidence by kind of weights."""

    version: str
    bias: float
    trees: tuple[Tree, ...]
    curves: Mapping[str, Mapping[str, Knots]]
    """By the weights' version, then by the request's script, `en` or `zh`; `shared` is there."""
    second: Mapping[str, Mapping[str, Sequence[float]]]
    """What a second answer does to the log-odds: by its source and whether it agrees."""

    @classmethod
    def of(cls, asset: Mapping[str, Any]) -> Self:
        """Reads the asset. Raises `ValueError` when it belongs to other features."""
        if tuple(asset["features"]) != NAMES:
            raise ValueError("the head was fitted on other features than these")
        return cls(
            asset["version"],
            asset["bias"],
            tuple(_tree(*row) for row in asset["trees"]),
            {
                version: {
                    script: Knots(tuple(at), tuple(told)) for script, (at, told) in row.items()
                }
                for version, row in asset["curves"].items()
            },
            asset["second"],
        )

    def log_odds(self, evidence: Sequence[float]) -> float:
        """That the answer is right, before calibration."""
        shown, total = evidence, self.bias
        for tree in self.trees:  # written out: it is most of the judge's time
            (a, b, c), (x, y, z) = tree.features, tree.above
            total += tree.values[4 * (shown[a] > x) + 2 * (shown[b] > y) + (shown[c] > z)]
        return total

    def calibrated(self, log_odds: float, *, version: str, script: str) -> float:
        """0-1, by the curve of these weights, else by the shared one."""
        return self.curves.get(version, self.curves[SHARED])[script](log_odds)


def _tree(features: Sequence[int], above: Sequence[float], values: Sequence[float]) -> Tree:
    (a, b, c), (x, y, z) = features, above
    return Tree((a, b, c), (x, y, z), tuple(values))


@cache
def shipped() -> Head:
    """The one that comes with the package; read once."""
    text = files("hybridge.execution").joinpath("assets/confidence.json").read_text("utf-8")
    return Head.of(json.loads(text))

"""From evidence to log-odds: a sum of small trees (R5).

Each tree asks the same few yes-or-no questions of every answer and adds one number, which depends
on what was said to all of them; the sum is the log-odds that the answer is right. Models whose
answers were measured have a few more trees of their own, and weights for the words of a request:
what they are asked well and badly. Fitted by `hybridge.pipeline.confidence`, whose asset says on
what and how good it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.execution.evidence import NAMES
from hybridge.execution.second import Source
from hybridge.execution.wanted import Language, Wanted
from hybridge.learning.isotonic import Knots

SHARED = "shared"
"""Whose calibration holds for weights that nobody measured."""


Weights = Mapping[str, Sequence[float]]
"""For `second.moved`: level and slope where the second answer `agreed`, and where it `differed`."""


class Tree(Struct, frozen=True):
    """Three questions: is this feature above this threshold?"""

    features: tuple[int, int, int]
    above: tuple[float, float, float]
    values: tuple[float, ...]
    """Eight, by the three answers; the first is the highest bit."""


class Model(Struct, frozen=True):
    """What is fitted for the weights of one model, beside what holds for all."""

    trees: tuple[Tree, ...]
    levels: Mapping[str, float]
    """By the request's script: log-odds that go with its wording."""
    wording: Mapping[str, NDArray[np.float32]]
    """By the request's script: log-odds for each number of its sketch, `(SKETCH,)`."""
    second: Weights | None = None
    """What this model's answer does to that of another one."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            tuple(_tree(*tree) for tree in row["trees"]),
            {script: told["level"] for script, told in row["wording"].items()},
            {
                script: np.array(told["sketch"], np.float32)
                for script, told in row["wording"].items()
            },
            row.get("second"),
        )

    def log_odds(self, evidence: Sequence[float], wanted: Wanted) -> float:
        """What it adds."""
        total = _sum(self.trees, evidence)
        if (weights := self.wording.get(wanted.script)) is None:
            return total
        return total + self.levels[wanted.script] + float(weights @ wanted.sketch)


class Head(Struct, frozen=True):
    """What is fitted: the trees, and curves from log-odds to confidence by kind of weights."""

    version: str
    bias: float
    trees: tuple[Tree, ...]
    curves: Mapping[str, Mapping[str, Knots]]
    """By the weights' version, then by the request's script, `en` or `zh`; `shared` is there."""
    models: Mapping[str, Model]
    """By the weights' version, those that were measured."""
    second: Mapping[str, Weights]
    """What a second answer does to the log-odds, by its source."""

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
            {version: Model.of(row) for version, row in asset["models"].items()},
            asset["second"],
        )

    def log_odds(self, evidence: Sequence[float], *, version: str, wanted: Wanted) -> float:
        """That the answer is right, before calibration. `version` is of the model's weights."""
        total = self.bias + _sum(self.trees, evidence)
        model = self.models.get(version)
        return total if model is None else total + model.log_odds(evidence, wanted)

    def of_second(self, source: Source, version: str) -> Weights | None:
        """What the answer of that version's weights does as a second one; None: nothing known."""
        model = self.models.get(version) if source == "model" else None
        return (model.second if model else None) or self.second.get(source)

    def confidence(self, evidence: Sequence[float], *, version: str, wanted: Wanted) -> float:
        """0-1, by the curve of these weights, else by the shared one."""
        curve = self.curve(version, wanted.script)
        return curve(self.log_odds(evidence, version=version, wanted=wanted))

    def curve(self, version: str, script: Language) -> Knots:
        """From log-odds to confidence, for these weights and a request in that script."""
        return self.curves.get(version, self.curves[SHARED])[script]


def _sum(trees: Sequence[Tree], shown: Sequence[float]) -> float:
    total = 0.0
    for tree in trees:  # written out: it is most of the judge's time
        (a, b, c), (x, y, z) = tree.features, tree.above
        total += tree.values[4 * (shown[a] > x) + 2 * (shown[b] > y) + (shown[c] > z)]
    return total


def _tree(features: Sequence[int], above: Sequence[float], values: Sequence[float]) -> Tree:
    (a, b, c), (x, y, z) = features, above
    return Tree((a, b, c), (x, y, z), tuple(values))


@cache
def shipped() -> Head:
    """The one that comes with the package; read once."""
    text = files("hybridge.execution").joinpath("assets/confidence.json").read_text("utf-8")
    return Head.of(json.loads(text))

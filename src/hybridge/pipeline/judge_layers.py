"""The layers of the judge of the answer, each fitted on what those before it leave unexplained.

Trees that hold for all models, a few more for the weights of each, and weights for the words of a
request, by weights and script. `Layers.unseen` tells answers by layers that have not seen their
fold, which is what calibration needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hybridge.execution.evidence import RISING
from hybridge.pipeline import boosting, logistic
from hybridge.pipeline.judged_rows import Row, beginnings, folds, matrix, right
from hybridge.pipeline.logistic import Array

PARTS = ((2, 3), (4, 5), (6, 7), (8, 9))
"""Folds that are left out together."""
BEGUN = 0.1
"""What the beginning of an answer weighs beside a whole one."""
OWN_TREES = 60
OWN_RIDGE = 30.0
"""Stronger than that of the trees for all: there are fewer answers of one model."""
WORDING_RIDGE = 3.0
RIGHTS = 30
"""Right answers, and wrong ones, that what is fitted for one model and script needs."""

Key = tuple[str, str]
"""Weights' version and script."""


@dataclass(frozen=True, slots=True)
class Grown:
    """Trees for all, and for each version."""

    bias: float
    trees: list[boosting.Tree]
    own: Mapping[str, list[boosting.Tree]]

    @classmethod
    def of(cls, whole: Sequence[Row], begun: Sequence[Row]) -> Self:
        every = [*whole, *begun]
        weights = np.array([1.0] * len(whole) + [BEGUN] * len(begun))
        shown, labels = matrix(every), right(every)
        bias, trees = boosting.fit(shown, labels, weights, rising=RISING)
        before, own = boosting.log_odds(bias, trees, shown), {}
        for version, those in _by_version(every):
            own[version] = boosting.more(
                shown[those],
                labels[those],
                weights[those],
                before[those],
                rising=RISING,
                trees=OWN_TREES,
                ridge=OWN_RIDGE,
            )
        return cls(bias, trees, own)

    def log_odds(self, every: Sequence[Row]) -> Array:
        """For each row, (n,)."""
        shown = matrix(every)
        z = boosting.log_odds(self.bias, self.trees, shown)
        for version, those in _by_version(every):
            z[those] += boosting.log_odds(0.0, self.own.get(version, []), shown[those])
        return z


@dataclass(frozen=True, slots=True)
class Layers:
    """All of them."""

    grown: Grown
    wording: Mapping[Key, Array]
    """A level and a weight for each number of the sketch."""
    unseen: Array
    """Log-odds of each taught answer, by layers that have not seen its fold, (n,)."""

    @classmethod
    def of(cls, taught: Sequence[Row]) -> Self:
        """`taught`: whole answers without a flaw."""
        begun = [one for one in beginnings(taught) if one.flaw is None]
        before, place = np.empty(len(taught)), folds(taught)
        for part in PARTS:
            held = np.isin(place, part)
            grown = Grown.of(
                [one for one in taught if one.question.fold not in part],
                [one for one in begun if one.question.fold not in part],
            )
            before[held] = grown.log_odds(_those(taught, held))
        sketches = _sketches(taught)
        after = before.copy()
        for part in PARTS:
            held = np.isin(place, part)
            learned = _wording(_those(taught, ~held), sketches[~held], before[~held])
            for key, those in _by_key(taught):
                if key in learned:
                    after[those & held] += _worded(learned[key], sketches[those & held])
        return cls(Grown.of(taught, begun), _wording(taught, sketches, before), after)

    def models(self) -> dict[str, Any]:
        """As the asset keeps what is fitted by version."""
        return {
            version: {
                "trees": trees,
                "wording": {
                    script: {
                        "level": round(float(weights[0]), 4),
                        "sketch": [round(float(weight), 3) for weight in weights[1:]],
                    }
                    for (of, script), weights in self.wording.items()
                    if of == version
                },
            }
            for version, trees in self.grown.own.items()
        }


def _wording(every: Sequence[Row], sketches: Array, before: Array) -> dict[Key, Array]:
    labels = right(every)
    return {
        key: logistic.fit(sketches[those], labels[those], ridge=WORDING_RIDGE, offset=before[those])
        for key, those in _by_key(every)
        if min(labels[those].sum(), (1 - labels[those]).sum()) >= RIGHTS
    }


def _worded(weights: Array, sketches: Array) -> Array:
    added: Array = weights[0] + sketches @ weights[1:]
    return added


def _sketches(every: Sequence[Row]) -> Array:
    return np.array([one.wanted.sketch for one in every], dtype=np.float64)


def _those(every: Sequence[Row], are: NDArray[np.bool_]) -> list[Row]:
    return [one for one, is_one in zip(every, are.tolist(), strict=True) if is_one]


def _by_version(every: Sequence[Row]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    versions = np.array([one.version for one in every])
    for version in sorted({one.version for one in every}):
        yield version, versions == version


def _by_key(every: Sequence[Row]) -> Iterator[tuple[Key, NDArray[np.bool_]]]:
    scripts = np.array([one.wanted.script for one in every])
    for version, those in _by_version(every):
        for script in ("en", "zh"):
            yield (version, script), those & (scripts == script)

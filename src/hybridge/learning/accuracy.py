"""Historical accuracy of the edge for each kind of task (R24). Pure, and old evidence fades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from hybridge.learning.evidence import Array

STRENGTH = 20.0
"""So many imagined answers of the usual accuracy stand before the first one that was seen."""
OFFSET_MOST = 1.5
"""Log-odds that a kind of task may move a score by, whatever was seen of it."""


class TaskAccuracy(Struct, frozen=True):
    """What was seen of one kind of task."""

    seen: float
    """Comparisons, faded."""
    accuracy: float
    """Share of answers that were good enough, 0-1; shrunk towards that of all tasks together, as
    the mean of a Beta distribution."""
    offset: float
    """Log-odds by which such tasks fail more often than their scores said, shrunk the same way."""


def by_task(
    tasks: Sequence[str], failed: Array, expected: Array, weights: Array
) -> Mapping[str, TaskAccuracy]:
    """The accuracy of each task that was seen.

    `failed` and `expected`, `(n,)`: how often an answer was not good enough, and the probability of
    it that the score gave. Comparing the two undoes what choosing comparisons by score has done.
    """
    if not len(tasks):
        return {}
    usual, names = float(np.average(failed, weights=weights)), np.array(tasks)
    found = {}
    for task in sorted(set(tasks)):
        own = names == task
        seen = float(weights[own].sum())
        misses, foreseen = float(weights[own] @ failed[own]), float(weights[own] @ expected[own])
        mean = foreseen / seen
        found[task] = TaskAccuracy(
            seen=seen,
            accuracy=1.0 - (misses + STRENGTH * usual) / (seen + STRENGTH),
            offset=_offset(
                (misses + STRENGTH * mean) / (seen + STRENGTH),
                (foreseen + STRENGTH * mean) / (seen + STRENGTH),
            ),
        )
    return found


def _offset(seen: float, foreseen: float) -> float:
    odds = np.log([seen, foreseen]) - np.log1p([-seen, -foreseen])
    return float(np.clip(odds[0] - odds[1], -OFFSET_MOST, OFFSET_MOST))

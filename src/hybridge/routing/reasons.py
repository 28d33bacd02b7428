"""Why a score is what it is, in words: the signals that moved it most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybridge.routing.features import HIGH_WORDS, LOW_WORDS

STRONGEST = 3
"""How many signals a score names."""
LEAST = 0.05
"""Log-odds that a signal must move the score by to be named: about one percentage point."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """What moved one score, each in log-odds against the average training prompt."""

    high: NDArray[np.bool_]
    """Which features lie above their average."""
    features: NDArray[np.float32]
    wording: float
    """Of the n-grams."""
    topic: float
    """Of the embedding."""


def reasons(told: Contributions) -> tuple[str, ...]:
    """The strongest signals, strongest first, as `harder: long prompt` or `easier: few numbers`."""
    moved: dict[str, float] = {}
    for words, by in _named(told):
        moved[words] = moved.get(words, 0.0) + by
    strongest = sorted(moved.items(), key=lambda item: -abs(item[1]))[:STRONGEST]
    return tuple(
        f"{'harder' if by > 0 else 'easier'}: {words}"
        for words, by in strongest
        if abs(by) >= LEAST
    )


def _named(told: Contributions) -> Iterator[tuple[str, float]]:
    """Each signal by its name; signals of one name are told as one."""
    yield "its topic", told.topic
    yield "its wording", told.wording
    for index, by in enumerate(told.features.tolist()):
        words = (HIGH_WORDS if told.high[index] else LOW_WORDS)[index]
        if words:
            yield words, by

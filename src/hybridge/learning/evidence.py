"""Comparisons as evidence about a pair of models: what they weigh, and when they fade."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Array = NDArray[np.float64]

PROPENSITY_LEAST = 0.1
"""Rarer comparisons count no more than this: a few would outweigh all others (clipped inverse
propensity weighting, Ionides 2008)."""


class Pair(Struct, frozen=True, order=True):
    """An edge model at one version, and a cloud."""

    edge: str
    """Name of its backend."""
    version: str
    """Digest or version of its weights; another one is another model."""
    cloud: str
    """Name of its backend."""


class Evidence(Struct, frozen=True):
    """What one comparison says."""

    pair: Pair
    at: datetime
    task: str
    failed: float
    """Whether the edge's answer was not good enough: 0 or 1, or between."""
    propensity: float
    """With what probability it was compared at all, above 0."""
    p: float | None
    """What the score said that the decision was made on, 0-1."""
    view: bytes | None = None
    """What was seen of the prompt, packed; None where none was kept."""
    head: str = ""
    """Version of the head that the view is of."""
    request_id: str = ""
    better: float = 0.0
    """By how much the edge's answer was the better one, 0-1, where that is known."""

    @property
    def gain(self) -> float:
        """By how much the cloud's answer was better, -1 to 1: what adapters learn."""
        return self.failed - self.better


def in_order(found: Sequence[Evidence]) -> list[Evidence]:
    """In an order that does not depend on the one they came in."""
    return sorted(found, key=lambda one: (one.at, one.request_id, one.view or b"", one.gain))


def weights(found: Sequence[Evidence], now: datetime, half_life: timedelta) -> Array:
    """How much each counts, shape `(n,)`.

    Evidence halves with every `half_life`. What was compared rarely stands for the many that were
    not; but uneven weights are worth fewer comparisons than even ones, so all of them together
    count as many as Kish's effective sample size (1965) says.
    """
    if not found:
        return np.zeros(0)
    rare = np.array([1.0 / max(one.propensity, PROPENSITY_LEAST) for one in found])
    ages = np.array([max(0.0, (now - one.at) / half_life) for one in found])
    counted: Array = rare * (rare.sum() / (rare**2).sum()) * 0.5**ages
    return counted

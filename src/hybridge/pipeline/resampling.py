"""Intervals by the bootstrap, in which whole topics are drawn: their questions go together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

TIMES = 300
SEED = 3


def interval(
    figure: Callable[[NDArray[np.int64]], float],
    topics: Sequence[Hashable],
    *,
    times: int = TIMES,
) -> list[float]:
    """The middle 95 % of a figure over resampled rows, which it gets as their places."""
    rng = np.random.default_rng(SEED)
    by: dict[Hashable, list[int]] = {}
    for place, topic in enumerate(topics):
        by.setdefault(topic, []).append(place)
    groups = [np.array(places) for places in by.values()]
    found = [
        figure(np.concatenate([groups[one] for one in rng.integers(len(groups), size=len(groups))]))
        for _ in range(times)
    ]
    low, high = np.nanquantile(found, [0.025, 0.975])
    return [round(float(low), 3), round(float(high), 3)]

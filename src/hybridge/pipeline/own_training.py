"""How prior and adapter do on comparisons that the adapter had not seen, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct

from hybridge.pipeline.design import Array
from hybridge.pipeline.measures import apgr, auroc, calibration_error
from hybridge.routing.adaptation import Study

DRAWS = 300
GAP_LEAST = 0.02
"""Where the cloud is hardly better on average, a recovered gap means nothing."""
Measure = Callable[[Array, Array, Array, Array], float]
"""From probabilities, failures, gains and weights to a figure."""


class Figure(Struct, frozen=True):
    """One measure of both, each with its interval of 95 %."""

    prior: tuple[float, float, float]
    """The figure, and the two ends."""
    adapter: tuple[float, float, float]
    difference: tuple[float, float, float]
    """Adapter less prior."""


def _log_loss(p: Array, failed: Array, _gain: Array, weights: Array) -> float:
    sure = np.clip(p, 1e-6, 1 - 1e-6)
    lost = failed * np.log(sure) + (1 - failed) * np.log1p(-sure)
    return float(-np.average(lost, weights=weights))


MEASURES: Mapping[str, Measure] = {
    "log loss": _log_loss,
    "AUROC": lambda p, failed, _gain, _weights: auroc(p, failed),
    "APGR": lambda p, _failed, gain, _weights: (
        apgr(p, gain) if gain.mean() > GAP_LEAST else float("nan")
    ),
    "ECE": lambda p, failed, _gain, weights: calibration_error(p, failed, weights),
}


def measured(found: Study, gain: Array) -> dict[str, Figure]:
    """Each measure; what cannot be told is left out. `gain` is in the order of `found.kept`.

    Intervals are of a bootstrap that draws groups of near-duplicates.
    """
    failed = np.array([one.failed for one in found.kept])
    draws = _draws(found.tried.group)
    figures = {}
    for name, measure in MEASURES.items():

        def both(drawn: Array, measure: Measure = measure) -> tuple[float, float]:
            prior, adapted = (
                measure(p[drawn], failed[drawn], gain[drawn], found.counts[drawn])
                for p in (found.tried.prior, found.tried.adapted)
            )
            return prior, adapted

        whole = both(np.arange(len(gain)))
        drawn = np.array([both(draw) for draw in draws])
        if np.isfinite(whole).all():
            figures[name] = Figure(
                _interval(whole[0], drawn[:, 0]),
                _interval(whole[1], drawn[:, 1]),
                _interval(whole[1] - whole[0], drawn[:, 1] - drawn[:, 0]),
            )
    return figures


def _draws(group: Array) -> list[Array]:
    _, place = np.unique(group, return_inverse=True)
    members = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    random = np.random.default_rng(0)
    return [
        np.concatenate([members[one] for one in random.integers(0, len(members), len(members))])
        for _ in range(DRAWS)
    ]


def _interval(value: float, drawn: Array) -> tuple[float, float, float]:
    known = drawn[np.isfinite(drawn)]
    low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (value, value)
    return value, float(low), float(high)

"""Figures that judge a score: APGR, AUROC, calibration error; and the calibration itself."""

from __future__ import annotations

import numpy as np

from hybridge.pipeline.design import Array

NEWTON_STEPS = 50


def apgr(score: Array, gain: Array) -> float:
    """Average performance gap recovered (RouteLLM, arXiv 2406.18665), exact over all thresholds.

    `gain` is strong less weak, with a mean above 0. Random is 0.5; ties count in expectation.
    """
    order = np.argsort(-score, kind="stable")
    ranked, gains = score[order], gain[order].astype(float)
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    sizes = np.diff(np.r_[starts, len(ranked)])
    gains = np.repeat(np.add.reduceat(gains, starts) / sizes, sizes)
    recovered = np.r_[0.0, np.cumsum(gains)] / gains.sum()
    return float(((recovered[1:] + recovered[:-1]) / 2).mean())


def auroc(score: Array, label: Array) -> float:
    """How often a positive scores above a negative, ties half; NaN when there is only one kind."""
    positive = label > 0.5
    ones, zeros = int(positive.sum()), int((~positive).sum())
    if not ones or not zeros:
        return float("nan")
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def calibration_error(p: Array, fails: Array, weights: Array, bins: int = 10) -> float:
    """Expected calibration error over bins of equal width (Guo et al. 2017), weighted."""
    place, total = np.minimum((p * bins).astype(int), bins - 1), weights.sum()
    gaps = (abs((weights * (p - fails))[place == b].sum()) for b in range(bins))
    return float(sum(gaps) / total)


def platt(z: Array, fails: Array, weights: Array) -> tuple[float, float]:
    """Slope and offset of the logistic that fits best (Platt 1999), by Newton's method."""
    centre, spread = float(np.average(z, weights=weights)), float(z.std()) + 1e-9
    x = np.column_stack([(z - centre) / spread, np.ones_like(z)])
    w, share = np.zeros(2), weights / weights.sum() * len(z)
    for _ in range(NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(-x @ w))
        gradient = x.T @ (share * (p - fails)) + 1e-3 * w
        w -= np.linalg.solve(
            x.T @ (x * (share * p * (1 - p))[:, None]) + 1e-3 * np.eye(2), gradient
        )
    return float(w[0] / spread), float(w[1] - w[0] * centre / spread)


def logistic(z: Array, slope: float, offset: float) -> Array:
    """Calibrated probabilities."""
    told: Array = 1.0 / (1.0 + np.exp(-np.clip(slope * z + offset, -30, 30)))
    return told

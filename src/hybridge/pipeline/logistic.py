"""A small logistic regression, and the two figures that judge probabilities. numpy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEPS = 50
"""Newton's method has long converged by then."""
CONVERGED = 1e-9
"""A step that moves no weight by more is the last one."""


def fit(
    features: Array, labels: Array, *, ridge: float = 1.0, offset: Array | float = 0.0
) -> Array:
    """Intercept and weights, by Newton's method; `ridge` shrinks the weights, not the intercept.

    `features` is (n, k), `labels` (n,) of 0 and 1, `offset` log-odds that are given, (n,); the
    result is (k + 1,).
    """
    design = np.column_stack([np.ones(len(features)), features])
    penalty = np.diag([1e-9, *[ridge] * features.shape[1]])
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = _sigmoid(offset + design @ weights)
        slope = design.T @ (p - labels) + penalty @ weights
        curvature = (design.T * (p * (1 - p))) @ design + penalty
        step = np.linalg.solve(curvature, slope)
        weights -= step
        if np.abs(step).max() < CONVERGED:
            break
    return weights


def predict(weights: Array, features: Array) -> Array:
    """Probabilities, (n,)."""
    return _sigmoid(weights[0] + features @ weights[1:])


def out_of_fold(features: Array, labels: Array, folds: NDArray[np.int64]) -> Array:
    """For each row the probability by a fit that has not seen its fold, (n,)."""
    told = np.empty(len(labels))
    for fold in np.unique(folds):
        held = folds == fold
        told[held] = predict(fit(features[~held], labels[~held]), features[held])
    return told


def auroc(scores: Array, labels: Array) -> float:
    """How often a right answer scores above a wrong one; ties count half. NaN for one kind."""
    right, wrong = scores[labels > 0.5], scores[labels <= 0.5]
    if not len(right) or not len(wrong):
        return float("nan")
    above = (right[:, None] > wrong[None, :]).mean()
    return float(above + 0.5 * (right[:, None] == wrong[None, :]).mean())


def ece(told: Array, labels: Array, *, bins: int = 10) -> float:
    """Expected calibration error: mean gap between told and seen over bins of equal width."""
    places = np.minimum((told * bins).astype(int), bins - 1)
    gaps = [
        abs(told[places == b].mean() - labels[places == b].mean()) * (places == b).mean()
        for b in np.unique(places)
    ]
    return float(sum(gaps))


def _sigmoid(z: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-np.clip(z, -50, 50)))
    return result

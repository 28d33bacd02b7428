"""The adapter: the prior's word on a prompt, moved by comparisons of the operator's own models.

Bayesian logistic regression around the prior. The log-odds of "the edge's answer is not good
enough" are `a + b prior + c length + w·view`; before the first label `b = 1` and all else is 0,
which is the prior itself. The two base columns move soon, the rest of the view is held strongly,
so that fifty labels move what fifty labels can tell. Pure: arrays in, arrays out.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.routing.view import EMBEDDING, FEATURES, LENGTH, PRIOR, PROJECTED, SIZE

Array = NDArray[np.float64]
_BASE = 3
"""Leading columns: a one, the prior's word, the length."""
COLUMNS = _BASE + SIZE - 1
_STEPS = 60
_CLOSE = 1e-6
_TINY = 1e-9


class Prior(Struct, frozen=True):
    """What is believed before the first label: how far each weight may be from where it begins.

    Precisions of Gaussians, in log-odds; found on recorded outcomes of other pairs of models.
    """

    level: float = 0.5
    """Of the intercept: how often an edge model fails differs widely."""
    word: float = 4.0
    """Of the weight on the prior's word, which begins at 1."""
    length: float = 10.0
    """Of the weight on the length, which begins at 0."""
    rest: float = 120.0
    """Of each weight on the rest of the view."""
    embedding_scale: float = 8.0
    """An embedding has unit length; so many times that it counts beside features."""
    sketch_scale: float = 8.0
    """The same of the projected n-grams."""

    def precisions(self) -> Array:
        """Shape `(COLUMNS,)`."""
        return np.array([self.level, self.word, self.length, *[self.rest] * (SIZE - 1)])

    def design(self, views: NDArray[np.floating]) -> Array:
        """The columns of views, `(n, SIZE)` to `(n, COLUMNS)`."""
        columns = np.empty((len(views), COLUMNS))
        columns[:, 0] = 1.0
        columns[:, 1], columns[:, 2] = views[:, PRIOR], views[:, LENGTH]
        rest = columns[:, _BASE - 1 :]  # its first column is taken; places are those of a view
        rest[:, FEATURES] = views[:, FEATURES]
        rest[:, EMBEDDING] = views[:, EMBEDDING] * self.embedding_scale
        rest[:, PROJECTED] = views[:, PROJECTED] * self.sketch_scale
        return columns


class Adapter(Struct, frozen=True):
    """What was learned, and how sure it is."""

    weights: Array
    """Shape `(COLUMNS,)`."""
    covariance: NDArray[np.float32]
    """Of the weights, `(COLUMNS, COLUMNS)`."""
    prior: Prior

    @classmethod
    def untaught(cls, prior: Prior | None = None) -> Self:
        """The one that says what the prior says."""
        prior = prior or Prior()
        weights = np.zeros(COLUMNS)
        weights[1] = 1.0
        return cls(weights, np.diag(1.0 / prior.precisions()).astype(np.float32), prior)

    def shift(self, view: NDArray[np.floating]) -> tuple[float, float]:
        """Log-odds that the edge's answer is not good enough, and their standard deviation."""
        row = self.prior.design(view[None])[0]
        narrow = row.astype(np.float32)  # else the whole covariance would be widened each time
        variance = float(narrow @ (self.covariance @ narrow))
        return float(row @ self.weights), float(np.sqrt(max(0.0, variance)))

    def told(self, views: NDArray[np.floating]) -> Array:
        """The log-odds of many views, `(n, SIZE)` to `(n,)`."""
        return self.prior.design(views) @ self.weights


def fit(
    views: NDArray[np.floating], labels: Array, prior: Prior | None = None, *, weights: Array
) -> Adapter:
    """Fits to labels of 0 (good enough) to 1 (not), each with a weight above 0.

    Finds the mode by steps under a bound on the curvature (Böhning and Lindsay 1988), which needs
    one factorisation; the covariance is Laplace's approximation there.
    """
    start = Adapter.untaught(prior)
    if not len(views):
        return start
    design, precisions = start.prior.design(views), start.prior.precisions()
    bound = _inverse_curvature(design, weights / 4, precisions)
    found = start.weights.copy()
    for _ in range(_STEPS):
        missed = weights * (sigmoid(design @ found) - labels)
        step = bound @ (design.T @ missed + precisions * (found - start.weights))
        found -= step
        if np.abs(step).max() < _CLOSE:
            break
    p = sigmoid(design @ found)
    spread = np.maximum(p * (1 - p), _TINY)
    covariance = _inverse_curvature(design, weights * spread, precisions)
    return Adapter(found, covariance.astype(np.float32), start.prior)


def sigmoid(z: Array) -> Array:
    """From log-odds to probabilities."""
    told: Array = 1.0 / (1.0 + np.exp(-np.clip(z, -30, 30)))
    return told


def _inverse_curvature(design: Array, weights: Array, precisions: Array) -> Array:
    """Of `designᵀ weights design + precisions`; for few rows by Woodbury's identity, which inverts
    as many rows as there are labels, not as many as there are columns."""
    if len(design) > COLUMNS // 2:
        gram = design.T @ (design * weights[:, None])
        gram[np.diag_indices_from(gram)] += precisions
        return np.asarray(np.linalg.inv(gram), np.float64)
    spread = design / precisions
    kernel = design @ spread.T
    kernel[np.diag_indices_from(kernel)] += 1.0 / weights
    inverse: Array = np.diag(1.0 / precisions) - spread.T @ np.linalg.solve(kernel, spread)
    return inverse

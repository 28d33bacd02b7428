"""The adapter: the prior's word on a prompt, moved by comparisons of the operator's own models.

A Gaussian process around the prior (Rasmussen and Williams 2006, chapter 3). The log-odds of "the
edge's answer is not good enough" are `a + b prior + c length + g(view)`; before the first label
`b = 1` and all else is 0, which is the prior itself. `g` is alike for prompts whose topic, form or
words are alike, so that a label also speaks for what resembles it. Pure: arrays in, arrays out.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.routing.view import EMBEDDING, FEATURES, LENGTH, PRIOR, PROJECTED, SIZE

Array = NDArray[np.float64]
Views = NDArray[np.floating]
_STEPS = 200
_CLOSE = 1e-6
_TINY = 1e-9


class Prior(Struct, frozen=True):
    """What is believed before the first label: how far the truth may be from where it begins.

    Variances of Gaussians, in squared log-odds; found on recorded outcomes of pairs of models.
    """

    level: float = 2.0
    """Of the intercept: how often an edge model fails differs widely."""
    word: float = 0.25
    """Of the weight on the prior's word, which begins at 1."""
    length: float = 0.1
    """Of the weight on the length, which begins at 0."""
    topic: float = 0.3
    """Of what the embedding says, linearly: an embedding has unit length."""
    form: float = 0.6
    """Of what the features say, under a radial kernel."""
    form_width: float = 0.7
    """Deviations per feature within which two forms are alike."""
    wording: float = 1.2
    """Of what the words say, under a radial kernel on the sphere of their projections."""
    wording_slope: float = 3.0
    """How fast two wordings become unlike each other."""

    def covariance(self, one: Views, other: Views) -> Array:
        """Of the log-odds of two sets of views, `(n, SIZE)` and `(m, SIZE)` to `(n, m)`."""
        base = self.level + self.word * np.outer(one[:, PRIOR], other[:, PRIOR])
        base += self.length * np.outer(one[:, LENGTH], other[:, LENGTH])
        topic = self.topic * (one[:, EMBEDDING] @ other[:, EMBEDDING].T)
        form = self.form * _radial(one[:, FEATURES], other[:, FEATURES], self.form_width)
        words = _unit(one[:, PROJECTED]) @ _unit(other[:, PROJECTED]).T
        wording = self.wording * np.exp(self.wording_slope * (words - 1.0))
        return np.asarray(base + topic + form + wording, np.float64)


class Adapter(Struct, frozen=True):
    """What was learned, and how sure it is."""

    views: NDArray[np.float32]
    """Of the prompts it was taught with, `(n, SIZE)`."""
    pulls: Array
    """How far each of them pulls what is like it, `(n,)`."""
    curvature: Array
    """Of the labels' log-likelihood at the mode: how much each label says, `(n,)`."""
    precision: NDArray[np.float32]
    """Of their labels and of what is believed together, `(n, n)`: what the error follows from."""
    prior: Prior

    @classmethod
    def untaught(cls, prior: Prior | None = None) -> Self:
        """The one that says what the prior says."""
        return cls.of(np.zeros((0, SIZE), np.float32), np.zeros(0), np.zeros(0), prior or Prior())

    @classmethod
    def of(cls, views: Views, pulls: Array, curvature: Array, prior: Prior) -> Self:
        """From what a fit has found."""
        precision = _precision(prior.covariance(views, views), curvature).astype(np.float32)
        return cls(views.astype(np.float32), pulls, curvature, precision, prior)

    def shift(self, view: Views) -> tuple[float, float]:
        """Log-odds that the edge's answer is not good enough, and their standard deviation."""
        alike = self.prior.covariance(self.views, view[None])[:, 0]
        narrow = alike.astype(np.float32)  # else the whole matrix would be widened each time
        known = float(narrow @ (self.precision @ narrow))
        variance = float(self.prior.covariance(view[None], view[None])[0, 0]) - known
        return float(view[PRIOR] + alike @ self.pulls), float(np.sqrt(max(0.0, variance)))

    def told(self, views: Views) -> Array:
        """The log-odds of many views, `(n, SIZE)` to `(n,)`."""
        told: Array = views[:, PRIOR] + self.prior.covariance(views, self.views) @ self.pulls
        return told


def fit(views: Views, labels: Array, prior: Prior | None = None, *, weights: Array) -> Adapter:
    """Fits to labels of 0 (good enough) to 1 (not), each with a weight above 0.

    A label below 0, down to -1, says that the edge's answer was even better than the cloud's: it
    pulls as far beyond 0 as a 1 does from there (a quasi-likelihood, Wedderburn 1974).
    Finds the mode by steps under a bound on the curvature (Böhning and Lindsay 1988), which needs
    one inversion; the error is Laplace's approximation there. Takes time with the cube of n.
    """
    start = Adapter.untaught(prior)
    if not len(views):
        return start
    covariance = start.prior.covariance(views, views)
    bound, base = weights / 4, np.asarray(views[:, PRIOR], np.float64)
    precision = _precision(covariance, bound)
    pulls = np.zeros(len(views))
    for _ in range(_STEPS):
        moved = covariance @ pulls
        missed = weights * (labels - sigmoid(base + moved))
        before, pulls = pulls, precision @ (moved + missed / bound)
        if np.abs(pulls - before).max() < _CLOSE:
            break
    p = sigmoid(base + covariance @ pulls)
    curvature = weights * np.maximum(p * (1 - p), _TINY)
    return Adapter.of(views, pulls, curvature, start.prior)


def sigmoid(z: Array) -> Array:
    """From log-odds to probabilities."""
    told: Array = 1.0 / (1.0 + np.exp(-np.clip(z, -30, 30)))
    return told


def _precision(covariance: Array, curvature: Array) -> Array:
    """The inverse of `covariance + 1 / curvature`."""
    noisy = covariance.copy()
    noisy[np.diag_indices_from(noisy)] += 1.0 / curvature
    return np.asarray(np.linalg.inv(noisy), np.float64)


def _radial(one: Views, other: Views, width: float) -> Views:
    """`exp(-d² / 2)`, d in widths, mean over the columns; `(n, k)` and `(m, k)` to `(n, m)`."""
    apart = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2.0 * (one @ other.T)
    scale = 2.0 * width * width * one.shape[1]
    radial: Views = np.exp(-np.maximum(apart, 0.0) / scale)
    return radial


def _unit(rows: Views) -> Views:
    """Each row with length 1; an empty one stays empty."""
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    unit: Views = rows / np.maximum(lengths, _TINY)
    return unit

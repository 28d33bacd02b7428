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
SURE = 400
"""Labels that the error of a score is told from: with all of them it would take too long."""
_STEPS = 200
_CLOSE = 1e-6
_TINY = 1e-9


class Sides(Struct, frozen=True):
    """What of views takes part in their covariance, each part of its own kind, `n` rows each."""

    word: Views
    length: Views
    topic: Views
    form: Views
    form_square: Views
    wording: Views


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

    def read(self, views: Views) -> Sides:
        """What a covariance needs of views, `(n, SIZE)`, put beside each other once."""
        form = views[:, FEATURES] / (self.form_width * np.sqrt(views[:, FEATURES].shape[1]))
        return Sides(
            np.sqrt(self.word) * views[:, PRIOR],
            np.sqrt(self.length) * views[:, LENGTH],
            np.ascontiguousarray(np.sqrt(self.topic) * views[:, EMBEDDING]),
            np.ascontiguousarray(form),
            (form**2).sum(axis=1) / 2.0,
            np.ascontiguousarray(_unit(views[:, PROJECTED])),
        )

    def covariance(self, one: Sides, other: Sides) -> Array:
        """Of the log-odds of two sets of views, `(n, m)`."""
        linear = self.level + np.outer(one.word, other.word) + np.outer(one.length, other.length)
        topic = one.topic @ other.topic.T
        apart = one.form_square[:, None] + other.form_square - one.form @ other.form.T
        form = self.form * np.exp(-np.maximum(apart, 0.0))
        alike = one.wording @ other.wording.T
        wording = self.wording * np.exp(self.wording_slope * (alike - 1.0))
        return np.asarray(linear + topic + form + wording, np.float64)


class Adapter(Struct, frozen=True):
    """What was learned, and how sure it is."""

    views: NDArray[np.float32]
    """Of the prompts it was taught with, `(n, SIZE)`."""
    pulls: Array
    """How far each of them pulls what is like it, `(n,)`."""
    curvature: Array
    """Of the labels' log-likelihood at the mode: how much each label says, `(n,)`."""
    prior: Prior
    sides: Sides
    """Of the views."""
    sure: NDArray[np.int64]
    """Places of the labels that the error is told from, `(k,)`."""
    precision: NDArray[np.float32]
    """Of those, of what is believed and of their labels together, `(k, k)`."""

    @classmethod
    def untaught(cls, prior: Prior | None = None) -> Self:
        """The one that says what the prior says."""
        return cls.of(np.zeros((0, SIZE), np.float32), np.zeros(0), np.zeros(0), prior or Prior())

    @classmethod
    def of(cls, views: Views, pulls: Array, curvature: Array, prior: Prior) -> Self:
        """From what a fit has found."""
        narrow = views.astype(np.float32)
        sure = np.unique(np.linspace(0, max(0, len(views) - 1), SURE).astype(np.int64))
        sure = sure[: len(views)]
        some = prior.read(narrow[sure])
        precision = _precision(prior.covariance(some, some), curvature[sure]).astype(np.float32)
        return cls(narrow, pulls, curvature, prior, prior.read(narrow), sure, precision)

    def shift(self, view: Views) -> tuple[float, float]:
        """Log-odds that the edge's answer is not good enough, and their standard deviation.

        With more than `SURE` labels the deviation is told from as many of them, and too large.
        """
        asked = self.prior.read(view[None].astype(np.float32))
        alike = self.prior.covariance(self.sides, asked)[:, 0]
        some = alike[self.sure].astype(np.float32)
        known = float(some @ (self.precision @ some))
        variance = float(self.prior.covariance(asked, asked)[0, 0]) - known
        return float(view[PRIOR] + alike @ self.pulls), float(np.sqrt(max(0.0, variance)))

    def told(self, views: Views) -> Array:
        """The log-odds of many views, `(n, SIZE)` to `(n,)`."""
        alike = self.prior.covariance(self.prior.read(views), self.sides)
        told: Array = views[:, PRIOR] + alike @ self.pulls
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
    sides = start.prior.read(views)
    covariance = start.prior.covariance(sides, sides)
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


def _unit(rows: Views) -> Views:
    """Each row with length 1; an empty one stays empty."""
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    unit: Views = rows / np.maximum(lengths, _TINY)
    return unit

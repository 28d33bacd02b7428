"""The linear fit behind the scorer's head: ridge regression, then n-grams on what it leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybridge.pipeline.design import EMBEDDING_SCALE, Array, Design, Grams
from hybridge.routing.features import NAMES
from hybridge.routing.ngrams import BUCKETS

RIDGE, NGRAM_RIDGE = 8000.0, 300.0
"""Penalties, chosen by leaving out one source after the other (docs/explanation/scorer.md)."""
NGRAM_STEPS = 40
LENGTH_SHARE = 0.5
"""Weight of the prompt's length beside what was learned, in deviations: on sources left out of the
training length alone tells nearly as much as the rest, and both together tell more than either."""
_SOLVED = 1e-12


@dataclass(frozen=True, slots=True)
class Linear:
    """A fitted head before its calibration."""

    bias: float
    features: Array
    ngrams: Array
    embedding: Array | None

    def z(self, design: Design) -> Array:
        """The raw score of each row."""
        z = self.bias + design.standard @ self.features + design.grams.dot(self.ngrams)
        return z if self.embedding is None else z + design.embeddings @ self.embedding


def fit(design: Design, *, full: bool) -> Linear:
    """Weights under which failures within each weak model are told best, in squares."""
    dense = design.standard
    if full:
        dense = np.hstack([dense, EMBEDDING_SCALE * design.embeddings])
    centred, wanted = design.centred(dense), design.centred(design.fails)
    normal = centred.T @ (design.weights[:, None] * centred) + RIDGE * np.eye(dense.shape[1])
    solved: Array = np.linalg.solve(normal, centred.T @ (design.weights * wanted)).astype(float)
    ngrams = _fit_ngrams(design.grams, wanted - centred @ solved, design.weights)
    features = solved[: len(NAMES)].copy()
    features[NAMES.index("log_chars")] += LENGTH_SHARE * float(np.std(dense @ solved))
    said = dense @ np.concatenate([features, solved[len(NAMES) :]]) + design.grams.dot(ngrams)
    return Linear(
        bias=float(np.average(design.fails - said, weights=design.weights)),
        features=features,
        ngrams=ngrams,
        embedding=EMBEDDING_SCALE * solved[len(NAMES) :] if full else None,
    )


def _fit_ngrams(grams: Grams, left: Array, weights: Array) -> Array:
    """Conjugate gradients on the ridge's normal equations (Hestenes and Stiefel 1952)."""
    learned = np.zeros(BUCKETS)
    residual = grams.transposed_dot(weights * left)
    direction, norm = residual.copy(), float(residual @ residual)
    for _ in range(NGRAM_STEPS):
        if norm < _SOLVED:
            break
        applied = grams.transposed_dot(weights * grams.dot(direction)) + NGRAM_RIDGE * direction
        step = norm / float(direction @ applied)
        learned += step * direction
        residual -= step * applied
        before, norm = norm, float(residual @ residual)
        direction = residual + norm / before * direction
    return learned

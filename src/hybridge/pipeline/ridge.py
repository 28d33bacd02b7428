"""The linear fit behind the scorer's head: features that hold on every source, then the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybridge.pipeline.design import Array, Design, Grams
from hybridge.routing.features import NAMES
from hybridge.routing.ngrams import BUCKETS

RIDGE, EMBEDDING_RIDGE, NGRAM_RIDGE = 5.0, 0.3, 0.2
"""Penalties, chosen by leaving out one source after the other (docs/explanation/scorer.md)."""
NGRAM_STEPS = 40
CHINESE_FAVOUR = 32.0
"""Weight of a Chinese row in the fit of the n-grams: they share next to none with English, and only
the questions of our own teach them."""
LENGTH_SHARE = 0.5
"""Weight of the prompt's length beside what was learned, in deviations: on sources left out of the
training length alone tells nearly as much as the rest, and both together tell more than either."""
FOR_ADAPTERS = frozenset(
    {
        "function_words", "question_words", "reasoning_words", "log_option", "numeric_options",
        "log_mean_sentence", "log_last_sentence", "log_hyphens", "log_apostrophes",
        "log_distinct_numbers", "numbers_per_word", "log_stem_numbers", "single_words",
        "longest_word", "upper_start",
    }
)  # fmt: skip
"""Features that the head leaves alone: they tell what an adapter needs, and differ by source."""
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
    """Weights that tell the target best within each pair, in squares."""
    features, said = _fit_features(design)
    left = design.centred(design.target) - design.centred(said)
    said = said + LENGTH_SHARE * float(np.std(said)) * design.standard[:, _LENGTH]
    features[_LENGTH] += LENGTH_SHARE * float(np.std(design.standard @ features))
    embedding = None
    if full:
        embedding = _fit_embedding(design, left)
        left = left - design.centred(design.embeddings @ embedding)
        said = said + design.embeddings @ embedding
    favoured = design.weights * np.where(design.chinese, CHINESE_FAVOUR, 1.0)
    ngrams = _fit_ngrams(design.grams, left, favoured)
    said = said + design.grams.dot(ngrams)
    bias = float(np.average(design.target - said, weights=design.weights))
    return Linear(bias, features, ngrams, embedding)


_LENGTH = NAMES.index("log_chars")
_OWN = np.array([name not in FOR_ADAPTERS for name in NAMES])


def _fit_features(design: Design) -> tuple[Array, Array]:
    """Their weights, and what they say of each row.

    A weight on which the sources disagree is shrunk: it would be as wrong on the next source.
    """
    x, wanted = design.centred(design.standard[:, _OWN]), design.centred(design.target)

    def solved(rows: Array) -> Array:
        weights = design.weights[rows] / design.weights[rows].sum()
        normal = x[rows].T @ (weights[:, None] * x[rows]) + RIDGE * np.eye(x.shape[1])
        found: Array = np.linalg.solve(normal, x[rows].T @ (weights * wanted[rows]))
        return found

    found = solved(np.ones(len(wanted), bool))
    every = np.unique(design.sources[design.weights > 0])
    if len(every) > 1:
        each = [solved(design.sources == one) for one in every]
        error = np.var(each, axis=0, ddof=1) / len(every)  # of the mean over sources, squared
        found = found * found**2 / (found**2 + error + _SOLVED)
    features = np.zeros(len(NAMES))
    features[_OWN] = found
    return features, design.standard @ features


def _fit_embedding(design: Design, left: Array) -> Array:
    x = design.centred(design.embeddings)
    normal = x.T @ (design.weights[:, None] * x) + EMBEDDING_RIDGE * np.eye(x.shape[1])
    found: Array = np.linalg.solve(normal, x.T @ (design.weights * left))
    return found


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

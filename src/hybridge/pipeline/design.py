"""Prompts as matrices: what the scorer's head is fitted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridge.pipeline.outcomes import Row
from hybridge.routing.features import CLIP, features
from hybridge.routing.head import DIMENSIONS
from hybridge.routing.ngrams import BUCKETS, ngrams

Array = NDArray[Any]
Sparse = tuple[NDArray[np.int64], NDArray[np.float32]]

EMBEDDING_SCALE = 8.0
"""Brings unit vectors of 384 dimensions to the features' size, so that one penalty fits both."""


class Grams:
    """A sparse matrix of n-grams, row by row."""

    def __init__(self, rows: Sequence[Sparse]) -> None:
        self._row = np.repeat(np.arange(len(rows)), [len(buckets) for buckets, _ in rows])
        self._column = np.concatenate([buckets for buckets, _ in rows])
        self._value = np.concatenate([weights for _, weights in rows]).astype(float)
        self._count = len(rows)

    def dot(self, weights: Array) -> Array:
        """Shape `(rows,)`."""
        products = self._value * weights[self._column]
        return np.bincount(self._row, products, minlength=self._count).astype(float)

    def transposed_dot(self, rows: Array) -> Array:
        """Shape `(BUCKETS,)`."""
        products = self._value * rows[self._row]
        return np.bincount(self._column, products, minlength=BUCKETS).astype(float)


@dataclass(frozen=True, slots=True)
class Table:
    """What is known of each prompt, by key."""

    features: Mapping[str, NDArray[np.float32]]
    grams: Mapping[str, Sparse]
    embeddings: Mapping[str, NDArray[np.float32]]

    @classmethod
    def of(cls, prompts: Mapping[str, str], embeddings: Path) -> Table:
        """Reads `embeddings` (an .npz of `keys` and `x`); a missing one is 0."""
        with np.load(embeddings) as data:
            vectors = data["x"].astype(np.float32)
            known = dict(zip(data["keys"].tolist(), vectors, strict=True))
        nothing = np.zeros(DIMENSIONS, np.float32)
        return cls(
            {key: features(text) for key, text in prompts.items()},
            {key: ngrams(text) for key, text in prompts.items()},
            {key: known.get(key, nothing) for key in prompts},
        )

    def scale_of(self, rows: Sequence[Row]) -> tuple[Array, Array]:
        """Mean and deviation of the features over the rows' distinct prompts."""
        raw = np.array([self.features[key] for key in sorted({row.key for row in rows})], float)
        return raw.mean(axis=0), raw.std(axis=0) + 1e-6


@dataclass(frozen=True, slots=True)
class Design:
    """The rows' matrices."""

    standard: Array
    """Standardised features, `(n, len(NAMES))`."""
    embeddings: Array
    """`(n, 384)`."""
    grams: Grams
    fails: Array
    """The target, `(n,)`."""
    levels: NDArray[np.int64]
    """Number of the row's weak model, `(n,)`."""
    weights: Array
    """A row's weight, `(n,)`."""

    @classmethod
    def of(cls, rows: Sequence[Row], table: Table, mean: Array, deviation: Array) -> Design:
        """Looks the rows up and standardises them."""
        raw = np.array([table.features[row.key] for row in rows], float)
        models = sorted({row.weak for row in rows})
        return cls(
            np.clip((raw - mean) / deviation, -CLIP, CLIP),
            np.array([table.embeddings[row.key] for row in rows], float),
            Grams([table.grams[row.key] for row in rows]),
            np.array([row.fails for row in rows]),
            np.array([models.index(row.weak) for row in rows]),
            np.array(list(_weights(rows))),
        )

    def centred(self, values: Array) -> Array:
        """Values less their mean over the rows of the same weak model.

        How good a model is, is not the prompt's doing; what is harder for the same model is.
        """
        out = np.array(values, float)
        for level in np.unique(self.levels):
            rows = self.levels == level
            out[rows] -= out[rows].mean(axis=0)
        return out


def _weights(rows: Sequence[Row]) -> Iterator[float]:
    """A model's n rows on one source weigh √n together, times 60: none drowns the others."""
    sizes = Counter((row.source, row.weak) for row in rows)
    return (60.0 / sizes[row.source, row.weak] ** 0.5 for row in rows)

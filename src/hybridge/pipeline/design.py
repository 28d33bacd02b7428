"""Prompts as matrices: what the scorer's head is fitted on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridge.pipeline.outcomes import Row
from hybridge.routing.features import CLIP, NAMES, features
from hybridge.routing.head import CHINESE_SHARE, DIMENSIONS
from hybridge.routing.ngrams import BUCKETS, ngrams

Array = NDArray[Any]
Sparse = tuple[NDArray[np.int64], NDArray[np.float32]]

FAILS_SHARE = 0.25
"""Of the target: it makes the probability sharper at no price on sources left out."""
LEAST_ROWS = 30
"""Of a pair, that it takes part in a fit."""


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
        """Mean and deviation of the features over distinct prompts; every source counts alike."""
        keys: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            keys[row.source].add(row.key)
        means, squares = [], []
        for source in sorted(keys):
            raw = np.array([self.features[key] for key in sorted(keys[source])], float)
            means.append(raw.mean(axis=0))
            squares.append((raw**2).mean(axis=0))
        mean = np.mean(means, axis=0)
        return mean, np.sqrt(np.mean(squares, axis=0) - mean**2 + 1e-9)


@dataclass(frozen=True, slots=True)
class Design:
    """The rows' matrices."""

    standard: Array
    """Standardised features, `(n, len(NAMES))`."""
    embeddings: Array
    """`(n, 384)`."""
    grams: Grams
    fails: Array
    """Whether the weak model fails, `(n,)`."""
    target: Array
    """What is learned: how much better the strong model does, and with a quarter of the weight
    whether the weak one fails, each in deviations within the pair, `(n,)`."""
    pairs: NDArray[np.int64]
    """Number of the row's source and weak model, `(n,)`."""
    sources: NDArray[np.int64]
    """Number of the row's source, `(n,)`."""
    chinese: NDArray[np.bool_]
    """Whether the prompt is a Chinese one, `(n,)`."""
    weights: Array
    """A row's weight, `(n,)`: sources weigh alike, and so do the pairs of a source; together 1."""

    @classmethod
    def of(cls, rows: Sequence[Row], table: Table, mean: Array, deviation: Array) -> Design:
        """Looks the rows up and standardises them."""
        raw = np.array([table.features[row.key] for row in rows], float)
        pairs = _numbered([(row.source, row.weak) for row in rows])
        sources = _numbered([row.source for row in rows])
        gain, fails = (np.array(x) for x in zip(*((r.gain, r.fails) for r in rows), strict=True))
        target = _in_deviations(gain, pairs) + FAILS_SHARE * _in_deviations(fails, pairs)
        return cls(
            np.clip((raw - mean) / deviation, -CLIP, CLIP),
            np.array([table.embeddings[row.key] for row in rows], float),
            Grams([table.grams[row.key] for row in rows]),
            fails,
            target,
            pairs,
            sources,
            raw[:, NAMES.index("cjk_share")] > CHINESE_SHARE,
            _weights(pairs, sources),
        )

    def centred(self, values: Array) -> Array:
        """Values less their mean over the rows of the same pair.

        How good a model is, is not the prompt's doing; what is harder for the same model is.
        """
        out = np.array(values, float)
        for pair in np.unique(self.pairs):
            rows = self.pairs == pair
            out[rows] -= out[rows].mean(axis=0)
        return out


def _in_deviations(values: Array, pairs: NDArray[np.int64]) -> Array:
    """Divided by their deviation within each pair."""
    out = values.astype(float)
    for pair in np.unique(pairs):
        out[pairs == pair] /= values[pairs == pair].std() + 1e-9
    return out


def _numbered(names: Sequence[Any]) -> NDArray[np.int64]:
    number = {name: place for place, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], np.int64)


def _weights(pairs: NDArray[np.int64], sources: NDArray[np.int64]) -> Array:
    """As `Design.weights` says; a pair of a few rows says nothing and weighs nothing."""
    weights, counted = np.zeros(len(pairs)), np.bincount(pairs)
    known = counted[pairs] >= LEAST_ROWS
    for source in np.unique(sources[known]):
        own = np.unique(pairs[known & (sources == source)])
        for pair in own:
            weights[pairs == pair] = 1.0 / (counted[pair] * len(own))
    shared: Array = weights / max(1.0, weights.sum())
    return shared

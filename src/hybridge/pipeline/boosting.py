"""Gradient boosting of small trees for probabilities (Friedman 2001), numpy only.

The trees are oblivious (all nodes of a level ask the same question, as in CatBoost), so that a few
numbers describe one, and chosen features can be kept from ever lowering the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hybridge.pipeline.logistic import Array

BINS = 24
"""Thresholds tried for each feature, at quantiles."""
LEVELS = 3
TREES = 140
RATE = 0.1
"""How much of each tree is taken."""
RIDGE = 12.0
"""Shrinks the values of leaves with few answers in them."""

Tree = tuple[list[int], list[float], list[float]]
"""Feature and threshold of each level, and the leaves' values."""


def fit(
    features: Array, labels: Array, weights: Array, *, rising: int, trees: int = TREES
) -> tuple[float, list[Tree]]:
    """Bias and trees; the first `rising` features never lower the sum when they rise."""
    share = float(np.average(labels, weights=weights))
    bias = float(np.log(share / (1 - share)))
    before = np.full(len(labels), bias)
    return bias, more(features, labels, weights, before, rising=rising, trees=trees)


def more(
    features: Array,
    labels: Array,
    weights: Array,
    before: Array,
    *,
    rising: int,
    trees: int,
    ridge: float = RIDGE,
) -> list[Tree]:
    """Trees on top of the log-odds `before`, (n,)."""
    cuts = [_cuts(column) for column in features.T]
    places = np.stack(
        [
            np.searchsorted(cut, column, side="left")
            for cut, column in zip(cuts, features.T, strict=True)
        ]
    )
    z, grown = before, []
    for _ in range(trees):
        p = 1 / (1 + np.exp(-z))
        slope, curvature = weights * (labels - p), weights * p * (1 - p)
        tree, leaf = _grow(places, cuts, slope, curvature, rising, ridge)
        grown.append(tree)
        z = z + np.array(tree[2])[leaf]
    return grown


def log_odds(bias: float, trees: Sequence[Tree], features: Array) -> Array:
    """The sum for each row, (n,)."""
    z = np.full(len(features), bias)
    for which, above, values in trees:
        leaf = np.zeros(len(features), dtype=np.int64)
        for feature, threshold in zip(which, above, strict=True):
            leaf = 2 * leaf + (features[:, feature] > threshold)
        z = z + np.array(values)[leaf]
    return z


def _cuts(column: Array) -> Array:
    """Thresholds halfway between neighbouring values, so that rounding moves nobody."""
    values = np.unique(column)
    if len(values) > BINS:
        values = np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1), method="nearest"))
    return np.round((values[1:] + values[:-1]) / 2, 4)


def _grow(
    places: NDArray[np.int64],
    cuts: Sequence[Array],
    slope: Array,
    curvature: Array,
    rising: int,
    ridge: float,
) -> tuple[Tree, NDArray[np.int64]]:
    leaf = np.zeros(places.shape[1], dtype=np.int64)
    which: list[int] = []
    above: list[float] = []
    for level in range(LEVELS):
        feature, cut = _best(places, cuts, slope, curvature, leaf, 1 << level, rising, ridge)
        which.append(feature)
        above.append(float(cuts[feature][cut]))
        leaf = 2 * leaf + (places[feature] > cut)
    size = 1 << LEVELS
    sums = np.bincount(leaf, slope, size)
    mass = np.asarray(np.bincount(leaf, curvature, size), dtype=np.float64)
    values = _risen(RATE * sums / (mass + ridge), mass, which, rising)
    return (which, above, [round(float(value), 4) for value in values]), leaf


def _best(
    places: NDArray[np.int64],
    cuts: Sequence[Array],
    slope: Array,
    curvature: Array,
    leaf: NDArray[np.int64],
    nodes: int,
    rising: int,
    ridge: float,
) -> tuple[int, int]:
    """The question that explains most, asked of all nodes at once. Where the answer to it would
    lower what must rise, a node stays whole, and the question explains nothing there."""
    best = (-1.0, 0, 0)
    for feature, cut in enumerate(cuts):
        if not len(cut):
            continue
        width = len(cut) + 1
        place = leaf * width + places[feature]
        left, below = (
            np.cumsum(np.bincount(place, what, nodes * width).reshape(nodes, width), axis=1)
            for what in (slope, curvature)
        )
        right, over = left[:, -1:] - left, below[:, -1:] - below
        gains = left**2 / (below + ridge) + right**2 / (over + ridge)
        if feature < rising:
            falls = left / (below + ridge) > right / (over + ridge)
            gains = np.where(falls, gains[:, -1:], gains)
        gains = gains[:, :-1].sum(axis=0)
        at = int(np.argmax(gains))
        best = max(best, (float(gains[at]), feature, at), key=lambda one: one[0])
    return best[1], best[2]


def _risen(values: Array, mass: Array, which: Sequence[int], rising: int) -> Array:
    """Leaves that would fall along a rising feature are brought to their mean; then, so that no
    rest of it remains, each takes the highest value below it."""
    bits = [LEVELS - 1 - level for level, feature in enumerate(which) if feature < rising]
    values, mass = values.copy(), mass + 1e-9
    for _ in range(4):
        for low, high in _pairs(bits):
            if values[low] > values[high]:
                both = np.average(values[[low, high]], weights=mass[[low, high]])
                values[low] = values[high] = both
    values = np.round(values, 4)
    for _ in bits:
        for low, high in _pairs(bits):
            values[high] = max(values[low], values[high])
    return values


def _pairs(bits: Sequence[int]) -> list[tuple[int, int]]:
    return [
        (leaf, leaf | 1 << bit)
        for bit, leaf in product(bits, range(1 << LEVELS))
        if not leaf & 1 << bit
    ]

"""Near-duplicates among views, so that none is judged by what its twin has taught."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.routing.head import Vector
from hybridge.routing.view import PROJECTED

ALIKE = 0.97
"""Cosine of two projections of words from which on two texts count as one: the same prompt but
for a few characters. What merely shares a template is what tomorrow's requests look like, too."""
Places = NDArray[np.int64]


class Folds(Struct, frozen=True):
    """Which group and which fold each view belongs to, `(n,)` each."""

    group: Places
    fold: Places


def folds(seen: Vector, count: int, groups: Sequence[int] | None = None) -> Folds:
    """Folds by content: the same whatever order the views come in, and no group in two of them."""
    group = near_duplicates(seen) if groups is None else np.array(groups, np.int64)
    named = [sha256(np.ascontiguousarray(row).tobytes()).digest() for row in seen]
    least: dict[int, bytes] = {}
    for place, name in zip(group.tolist(), named, strict=True):
        least[place] = min(name, least.get(place, name))
    fold = [int.from_bytes(least[place][:4], "big") % count for place in group.tolist()]
    return Folds(group, np.array(fold, np.int64))


def near_duplicates(seen: Vector) -> Places:
    """A number for each view; those whose wording is nearly the same share it."""
    wording = seen[:, PROJECTED]
    lengths = np.linalg.norm(wording, axis=1, keepdims=True)
    unit = wording / np.maximum(lengths, 1e-9)
    alike = unit @ unit.T >= ALIKE
    np.fill_diagonal(alike, val=True)
    group = np.arange(len(seen))
    while True:  # the least number spreads along chains of twins
        spread = np.where(alike, group[None, :], len(seen)).min(axis=1, initial=len(seen))
        if (spread == group).all():
            return group
        group = spread

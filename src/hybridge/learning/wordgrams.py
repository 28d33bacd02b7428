"""Hashed words and pairs of neighbouring words: what a text is about, without a vocabulary."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

BUCKETS = 1 << 16
SKETCH = 512
READ_CHARS = 4000
"""Of a long text, its beginning."""
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+|[\u3400-\u9fff]|[^\sa-z0-9]")
_LONG_NUMBER = 3
"""Digits from which on all numbers are one word."""


def wordgrams(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The buckets a text falls into, and their weights: `ln (1 + count)`, of unit length together.

    Both of shape `(k,)`, buckets sorted. A Chinese character is a word, and so is a mark.
    """
    words = [_plain(word) for word in _TOKEN.findall(text[:READ_CHARS].lower())]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    counted = Counter(crc32(gram.encode()) % BUCKETS for gram in words + pairs)
    buckets = np.array(sorted(counted), np.int64)
    weights = np.log1p(np.array([counted[bucket] for bucket in buckets.tolist()], np.float64))
    return buckets, (weights / max(1e-9, float(np.linalg.norm(weights)))).astype(np.float32)


def sketch(text: str) -> NDArray[np.float32]:
    """The buckets in `(SKETCH,)` numbers: a signed random projection that keeps inner products on
    average (count sketch, Charikar et al. 2002)."""
    places, signs = _projection()
    buckets, weights = wordgrams(text)
    summed = np.bincount(places[buckets], signs[buckets] * weights, minlength=SKETCH)
    return summed.astype(np.float32)


@cache
def _projection() -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """For each bucket its place and its sign: the same on every machine."""
    mixed = np.arange(BUCKETS, 2 * BUCKETS, dtype=np.uint64)
    for multiplier in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):  # splitmix64 (Steele et al. 2014)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(multiplier)
    mixed ^= mixed >> np.uint64(32)
    places = (mixed % np.uint64(SKETCH)).astype(np.int64)
    signs = np.where(mixed >> np.uint64(63), 1.0, -1.0).astype(np.float32)
    return places, signs


def _plain(word: str) -> str:
    return "0" if len(word) >= _LONG_NUMBER and word.isdigit() else word

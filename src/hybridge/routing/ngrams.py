"""Hashed character n-grams: the wording of a prompt, in any language, without a vocabulary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ORDERS = (1, 2, 3)
BUCKETS = 1 << 15
READ_CHARS = 800
"""Of a long text, the first half of this and the last."""

_MULTIPLIERS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
"""Odd 32-bit constants of xxHash (Y. Collet): they spread neighbouring code points well."""


def ngrams(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The buckets a text falls into, and their weights: `1 + ln count`, of unit length together.

    Both of shape `(k,)`, buckets sorted. The same in every process and on every machine.
    """
    codes = _codes(text)
    hashes = [_hash(codes, order) for order in ORDERS if len(codes) >= order]
    if not hashes:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    buckets, counts = np.unique(np.concatenate(hashes), return_counts=True)
    weights = 1.0 + np.log(counts)
    return buckets, (weights / np.sqrt(np.dot(weights, weights))).astype(np.float32)


def _codes(text: str) -> NDArray[np.uint32]:
    half = READ_CHARS // 2
    read = text if len(text) <= READ_CHARS else text[:half] + text[-half:]
    return np.frombuffer(read.lower().encode("utf-32-le", "surrogatepass"), np.uint32)


def _hash(codes: NDArray[np.uint32], order: int) -> NDArray[np.int64]:
    mixed = np.full(len(codes) - order + 1, order, np.uint32)
    for place in range(order):
        mixed = (mixed ^ codes[place : len(codes) - order + 1 + place]) * np.uint32(
            _MULTIPLIERS[place]
        )
        mixed ^= mixed >> np.uint32(15)
    return (mixed % np.uint32(BUCKETS)).astype(np.int64)

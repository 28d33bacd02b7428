"""Hashed character n-grams: the wording of a prompt, in any language, without a vocabulary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ORDERS = (1, 2, 3)
BUCKETS = 1 << 15
READ_CHARS = 800
"""Of a long text, the first half of this and the last."""

_ORDERS = np.array(ORDERS, np.uint32)[:, np.newaxis]
_SHIFT, _LAST = np.uint32(15), np.uint16(BUCKETS - 1)
_MULTIPLIERS = np.array((0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D), np.uint32)
"""Odd 32-bit constants of xxHash (Y. Collet): they spread neighbouring code points well."""
_WEIGHTS = np.concatenate(([0.0], 1.0 + np.log(np.arange(1, len(ORDERS) * READ_CHARS + 1))))
"""`1 + ln count` by count: a text has no more n-grams than so."""


def ngrams(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The buckets a text falls into, and their weights: `1 + ln count`, of unit length together.

    Both of shape `(k,)`, buckets sorted. The same in every process and on every machine.
    """
    if not text:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    buckets, counts = _counted(_hashes(_codes(text)))
    weights = _WEIGHTS[counts]
    return buckets, (weights / np.sqrt(np.dot(weights, weights))).astype(np.float32)


def _codes(text: str) -> NDArray[np.uint32]:
    half = READ_CHARS // 2
    read = text if len(text) <= READ_CHARS else text[:half] + text[-half:]
    return np.frombuffer(read.lower().encode("utf-32-le", "surrogatepass"), np.uint32)


def _counted(hashes: NDArray[np.uint16]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`np.unique` with counts, of an array that may be sorted in its place.

    A stable sort of 16 bits is a radix sort, several times as fast. What numpy has in Python
    (`diff`, `flatnonzero`) takes longer to call than the work does.
    """
    hashes.sort(kind="stable")
    differs = np.empty(len(hashes) + 1, np.bool_)
    differs[0] = differs[-1] = True
    np.not_equal(hashes[1:], hashes[:-1], out=differs[1:-1])
    (edges,) = differs.nonzero()
    return hashes[edges[:-1]].astype(np.int64), edges[1:] - edges[:-1]


def _hashes(codes: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """The buckets of all n-grams, with repetitions, each order begun with its own number.

    Row by row the same mixing, so all orders are mixed at once: the numpy calls, not the
    characters, are what takes time. An n-gram takes part in as many rounds as it has characters.
    """
    mixed = np.empty((len(ORDERS), len(codes)), np.uint32)
    mixed[:] = _ORDERS
    for place, multiplier in enumerate(_MULTIPLIERS):
        longer = mixed[place:, : max(0, len(codes) - place)]
        longer ^= codes[place:]
        longer *= multiplier
        longer ^= longer >> _SHIFT
    rows = [row[: max(0, len(codes) - place)] for place, row in enumerate(mixed)]
    return np.concatenate(rows, dtype=np.uint16, casting="unsafe") & _LAST

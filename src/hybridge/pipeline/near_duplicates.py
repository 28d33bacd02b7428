"""Which prompts are nearly the same, so that none is judged by what its twin has taught.

Shingles of words (of characters in Chinese), MinHash (Broder 1997) in bands to find candidates, and
the exact Jaccard similarity to decide.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

ALIKE = 0.6
"""Jaccard similarity from which on two prompts count as one."""
WORDS, SIGNS = 3, 5
"""Length of a shingle, in words or in Chinese characters."""
HASHES, BAND = 64, 4
COMMON = 60
"""A shingle that so many prompts share, or a twentieth of them, is a template and tells nothing."""
CROWD = 200
"""In a bucket with more prompts than this, each is compared with the first only."""
_PRIME = (1 << 31) - 1
_OTHER = re.compile(r"[^\w]+")
_CJK = re.compile(r"[\u4e00-\u9fff]")


def groups(prompts: Sequence[str]) -> list[int]:
    """A number for each prompt; near-duplicates share it."""
    shingles = _telling([_shingles(prompt) for prompt in prompts])
    leader = list(range(len(prompts)))

    def led_by(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for one, other in _candidates(shingles):
        first, second = led_by(one), led_by(other)
        if first != second and _alike(shingles[one], shingles[other]):
            leader[max(first, second)] = min(first, second)
    return [led_by(place) for place in range(len(prompts))]


def _shingles(prompt: str) -> frozenset[str]:
    plain = _OTHER.sub(" ", prompt.lower()).strip()
    if len(_CJK.findall(plain)) > 0.1 * len(plain):
        signs = plain.replace(" ", "")
        return frozenset(signs[i : i + SIGNS] for i in range(max(1, len(signs) - SIGNS + 1)))
    words = plain.split()
    return frozenset(" ".join(words[i : i + WORDS]) for i in range(max(1, len(words) - WORDS + 1)))


def _telling(every: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Without templates; a prompt that is nothing else keeps all it has."""
    often = Counter(shingle for one in every for shingle in one)
    most = max(COMMON, len(every) // 20)
    return [frozenset(s for s in one if often[s] <= most) or one for one in every]


def _candidates(shingles: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Pairs that share a band of their MinHash."""
    random = np.random.default_rng(1)
    factors, summands = random.integers(1, _PRIME, HASHES), random.integers(0, _PRIME, HASHES)
    signatures = [_minhash(one, factors, summands) for one in shingles]
    for start in range(0, HASHES, BAND):
        buckets: dict[bytes, list[int]] = defaultdict(list)
        for place, signature in enumerate(signatures):
            buckets[signature[start : start + BAND].tobytes()].append(place)
        for bucket in buckets.values():
            if len(bucket) <= CROWD:
                yield from combinations(bucket, 2)
            else:
                yield from ((bucket[0], other) for other in bucket[1:])


def _minhash(
    shingles: frozenset[str], factors: NDArray[np.int64], summands: NDArray[np.int64]
) -> NDArray[np.int64]:
    digests = (blake2b(s.encode("utf-8", "replace"), digest_size=4).digest() for s in shingles)
    hashes = np.array([int.from_bytes(digest, "big") % _PRIME for digest in digests], np.int64)
    mixed: NDArray[np.int64] = ((hashes[:, None] * factors + summands) % _PRIME).min(axis=0)
    return mixed


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)

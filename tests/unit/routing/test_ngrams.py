"""Hashed character n-grams: stable, of unit length, bounded."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.routing.ngrams import BUCKETS, ORDERS, READ_CHARS, ngrams

MULTIPLIERS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)


@given(st.text(min_size=1))
def test_any_text_gives_sorted_distinct_buckets_of_unit_length(text: str) -> None:
    buckets, weights = ngrams(text)
    assert (np.diff(buckets) > 0).all()
    assert 0 <= buckets[0] <= buckets[-1] < BUCKETS
    assert float(weights @ weights) == pytest.approx(1, abs=1e-4)


def test_no_text_gives_nothing() -> None:
    assert [len(part) for part in ngrams("")] == [0, 0]


def test_another_process_hashes_alike() -> None:
    code = (
        "from hybridge.routing.ngrams import ngrams; "
        "print(*ngrams('Why is the sky blue? 天空为什么是蓝色的')[0])"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    here = ngrams("Why is the sky blue? 天空为什么是蓝色的")[0]
    assert there.stdout.split() == [str(bucket) for bucket in here]


def test_case_says_nothing_and_wording_does() -> None:
    assert ngrams("WHY")[0].tolist() == ngrams("why")[0].tolist()
    assert ngrams("证明")[0].tolist() != ngrams("翻译")[0].tolist()


def test_of_a_long_text_both_ends_are_read_and_the_middle_is_not() -> None:
    start, end = "a" * READ_CHARS, "z" * READ_CHARS
    assert ngrams(start + end)[0].tolist() == ngrams(start + "middle" * 99 + end)[0].tolist()
    assert ngrams(start + end)[0].tolist() != ngrams(start + end + "?!")[0].tolist()
    assert len(ngrams("".join(map(chr, range(40, 5000))))[0]) <= 3 * READ_CHARS


def plainly(text: str) -> tuple[list[int], np.ndarray]:
    """The same definition, one n-gram after the other: a trained head knows these very numbers."""
    half = READ_CHARS // 2
    read = (text if len(text) <= READ_CHARS else text[:half] + text[-half:]).lower()
    codes = [ord(character) for character in read]
    hashes = []
    for order in ORDERS:
        for start in range(len(codes) - order + 1):
            mixed = order
            for code, multiplier in zip(codes[start : start + order], MULTIPLIERS, strict=False):
                mixed = ((mixed ^ code) * multiplier) & 0xFFFFFFFF
                mixed ^= mixed >> 15
            hashes.append(mixed % BUCKETS)
    buckets, counts = np.unique(hashes, return_counts=True)
    weights = 1.0 + np.log(counts)
    return buckets.tolist(), (weights / np.sqrt(np.dot(weights, weights))).astype(np.float32)


@given(st.text(min_size=1) | st.text("ab 求", min_size=1, max_size=2 * READ_CHARS))
def test_it_is_what_it_is_defined_as_to_the_bit(text: str) -> None:
    buckets, weights = ngrams(text)
    expected, weighed = plainly(text)
    assert (buckets.dtype, weights.dtype) == (np.int64, np.float32)
    assert buckets.tolist() == expected
    assert weights.tobytes() == weighed.tobytes()

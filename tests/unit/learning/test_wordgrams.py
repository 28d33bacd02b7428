"""Hashed words: any text, both languages, the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.learning.wordgrams import BUCKETS, READ_CHARS, wordgrams


def likeness(one: str, other: str) -> float:
    dense = np.zeros((2, BUCKETS))
    for row, text in zip(dense, (one, other), strict=True):
        buckets, weights = wordgrams(text)
        row[buckets] = weights
    return float(dense[0] @ dense[1])


@given(st.text())
def test_any_text_has_some_of_unit_length(text: str) -> None:
    buckets, weights = wordgrams(text)
    assert buckets.shape == weights.shape
    assert (np.diff(buckets) > 0).all()
    assert not len(buckets) or 0 <= buckets[0] <= buckets[-1] < BUCKETS
    assert np.linalg.norm(weights) == pytest.approx(float(bool(len(buckets))), abs=1e-5)


@pytest.mark.parametrize(
    ("one", "alike", "other"),
    [
        ("What is the capital of France?", "What is the capital of Spain?", "Sort these numbers"),
        ("法国的首都是哪里？", "西班牙的首都是哪里？", "把这些数字排序"),
    ],
)
def test_texts_that_share_words_are_alike(one: str, alike: str, other: str) -> None:
    assert likeness(one, alike) > 0.4 > likeness(one, other) + 0.2


def test_order_counts_and_long_numbers_do_not() -> None:
    assert likeness("dog bites man", "man bites dog") < 0.9
    assert likeness("it costs 12345 euros", "it costs 987 euros") == pytest.approx(1)


def test_what_is_read_is_bounded() -> None:
    text = "word " * READ_CHARS
    assert wordgrams(text)[0].tolist() == wordgrams(text[:READ_CHARS])[0].tolist()

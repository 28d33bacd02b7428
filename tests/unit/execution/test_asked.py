"""What a request looks like: numbers for any text, which tell requests of different kinds apart."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.execution.asked import NAMES, traits


def told(text: str) -> dict[str, float]:
    return dict(zip(NAMES, traits(text), strict=True))


@given(st.text())
def test_any_text_has_finite_ones(text: str) -> None:
    assert all(map(math.isfinite, traits(text)))


@pytest.mark.parametrize(
    ("name", "more", "less"),
    [
        ("asked_length", "say who wrote hamlet and when", "who wrote hamlet"),
        ("asked_digits", "add 1234 and 5678", "add one and two"),
        ("asked_words", "say who wrote hamlet and when", "谁写了哈姆雷特，是什么时候写的？"),
        ("asked_word_length", "characterise photosynthesis", "who is it"),
        ("asked_sentence", "sort the words by length, then by letter", "sort. the. words. by. a"),
        ("asked_commas", "排序：三，一，二", "三个数从小到大排序"),
        ("asked_colons", "翻译：你好", "把你好翻译成英文"),
        ("asked_plain", "what is it that he and his dog do", "sort 3 7 1 ascending"),
        ("asked_question", "哪个大，为什么？", "翻译这句话。"),
        ("asked_reasoning", "if it rains then prove why", "capital of france"),
    ],
)
def test_each_says_what_its_name_says(name: str, more: str, less: str) -> None:
    assert told(more)[name] > told(less)[name]


def test_a_text_that_repeats_itself_is_told_by_its_size_when_compressed() -> None:
    assert (
        told("ping " * 40)["asked_variety"]
        < told("".join(map(chr, range(97, 122))))["asked_variety"]
    )

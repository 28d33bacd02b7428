"""How a prompt is built: its question, options, sentences and kinds of words."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.learning import lexicon
from hybridge.routing.features import NAMES, features
from hybridge.routing.structure import SHAPE, structure

QUIZ = "Which of them is the largest planet (of {eight [known]})?\nA. Mars\nB. Jupiter\nC. 12"


def of(text: str, name: str) -> float:
    return float(features(text)[NAMES.index(name)])


@given(st.text())
def test_any_text_has_a_structure(text: str) -> None:
    row = structure(text, len(text.split()), Counter(text.split()))
    assert len(row) == len(SHAPE)
    assert np.isfinite(row).all()
    assert min(row) >= 0


def test_question_and_options_are_told_apart() -> None:
    assert of(QUIZ, "log_stem") == pytest.approx(
        math.log1p(len(QUIZ.split("\nA.", maxsplit=1)[0]) + 1), abs=0.1
    )
    assert of(QUIZ, "numeric_options") == pytest.approx(1 / 3)
    assert of(QUIZ, "log_option") > of("Which is it?", "log_option") == 0
    assert of(QUIZ, "bracket_depth") == 3
    assert of(QUIZ.replace("Jupiter", "Jupiter, the one with the moons"), "option_spread") > of(
        QUIZ, "option_spread"
    )


def test_repetition_compresses() -> None:
    assert (
        of("the same again. " * 40, "compressed") < 0.2 < of("Why is the sky blue?", "compressed")
    )


@pytest.mark.parametrize(
    ("kind", "english", "chinese"),
    [
        ("mathematical_words", "the integral of a polynomial", "多项式的积分"),
        ("quantities", "twice as much in total", "一共是原来的两倍"),
        ("reasoning_words", "assume it is true, therefore", "假设它正确，因此"),
        ("subject_words", "the patient and the court", "患者和法院"),
    ],
)
def test_kinds_of_words_are_seen_in_both_languages(kind: str, english: str, chinese: str) -> None:
    assert of(english, kind) > 0 < of(chinese, kind)
    assert of("hello there", kind) == 0 == of("你好呀", kind)


@given(st.lists(st.sampled_from(["what", "whatever", "the", "total", "x"]), max_size=30))
def test_words_are_counted_whole(words: list[str]) -> None:
    found = dict(zip(lexicon.NAMES, lexicon.count(" ".join(words), Counter(words)), strict=True))
    assert found["quantities"] == words.count("total")
    assert found["question_words"] == words.count("what")
    assert lexicon.asks_first(words) == (words[:1] == ["what"])

"""Text features: any text, both languages, bounded work."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.routing.feature_signs import SIGNS, count_signs
from hybridge.routing.features import (
    HEAD_CHARS,
    HIGH_WORDS,
    LOW_WORDS,
    NAMES,
    TAIL_CHARS,
    cjk_share,
    features,
    window,
)


def of(text: str, name: str, context_chars: int = 0) -> float:
    return float(features(text, context_chars)[NAMES.index(name)])


@given(st.text())
def test_any_text_has_finite_features(text: str) -> None:
    row = features(text)
    assert row.shape == (len(NAMES),)
    assert np.isfinite(row).all()
    assert cjk_share(text) == pytest.approx(row[NAMES.index("cjk_share")])


def test_half_a_surrogate_pair_is_read() -> None:
    assert np.isfinite(features("broken \ud83d emoji")).all()


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Prove that it holds.", "prove"),
        ("请证明它成立。", "prove"),
        ("用Python写一个函数", "code"),
        ("```\nx = 1\n```", "code"),
        ("把这句话翻译成英文", "translate"),
        ("为什么天是蓝的", "why"),
    ],
)
def test_signs_are_seen_in_both_languages_and_beside_each_other(text: str, sign: str) -> None:
    assert of(text, sign) >= 1


def test_a_whole_word_is_not_seen_inside_another() -> None:
    assert of("the knot is notable", "negation") == 0
    assert of("it is not", "negation") == 1


def test_a_sign_said_often_counts_three_times() -> None:
    assert of("not " * 30, "negation") == 3


def test_a_chinese_text_is_as_long_as_its_translation() -> None:
    chinese, english = (
        "请用一句话说明天空为什么是蓝色的",
        "Say in one sentence why the sky is blue, please",
    )
    assert of(chinese, "log_chars") == pytest.approx(of(english, "log_chars"), abs=0.3)


def test_without_latin_words_a_text_has_the_usual_vocabulary() -> None:
    assert of("天空是蓝色的", "word_length") == pytest.approx(
        of("the sky is blue", "word_length"), abs=1
    )


def test_a_long_text_is_seen_to_be_long_and_its_end_is_read() -> None:
    filler = "the weather was fine. " * 5000
    assert of(filler, "log_chars") > of(filler[:5000], "log_chars") + 2
    assert of(filler + "Prove the theorem.", "prove") > of(filler, "prove")


@given(st.text(min_size=1, max_size=9), st.integers(0, 20_000))
def test_what_is_read_is_bounded(piece: str, times: int) -> None:
    text = piece * times
    assert len(window(text)) == min(len(text), HEAD_CHARS + TAIL_CHARS)


def test_what_was_said_before_counts_as_length_only() -> None:
    alone, after = features("And why?"), features("And why?", 4000)
    changed = np.flatnonzero(alone != after)
    assert changed.tolist() == [NAMES.index("log_chars")]
    assert after[changed] > alone[changed]


def test_every_feature_has_words() -> None:
    assert len(NAMES) == len(set(NAMES)) == len(HIGH_WORDS) == len(LOW_WORDS)
    assert all(HIGH_WORDS)


PIECES = [piece for sign in SIGNS for piece in (*sign.whole, *sign.parts)]


@given(st.lists(st.sampled_from([*PIECES, " ", "\n", "？", "x"]), max_size=40).map("".join))
def test_all_signs_at_once_are_each_sign_alone(text: str) -> None:
    lower = text.lower()
    counted = Counter(re.findall("[a-z]+", lower))
    assert count_signs(lower, counted) == [sign.count(lower, counted) for sign in SIGNS]


ASCII = st.characters(max_codepoint=127)


@given(st.text(ASCII | st.sampled_from("。！？求é"), max_size=300))
def test_marks_are_counted_one_by_one(text: str) -> None:
    found = dict(zip(NAMES, features(text).tolist(), strict=True))

    def logged(marks: str) -> float:
        return float(np.float32(math.log1p(sum(map(text.count, marks)))))

    assert found["log_lines"] == logged("\n")
    assert found["log_sentences"] == logged(".!?。！？")
    assert found["log_latex"] == logged("\\$")
    assert found["log_operators"] == logged("+*/=^<>")
    assert found["log_brackets"] == logged("([{")
    assert found["question_marks"] == text.count("?") + text.count("？")
    assert found["quote_share"] == np.float32(50 * text.count('"') / max(1, len(text)))
    assert found["blank_share"] == np.float32(20 * text.count("_") / max(1, len(text)))

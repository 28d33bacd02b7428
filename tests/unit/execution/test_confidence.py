"""R5, R22: the judge's bounds, its direction, and when a stream's beginning is enough."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.response import Token
from hybridge.execution.confidence import FLAWED, Judge
from hybridge.execution.curve import Curve, features
from hybridge.execution.wanted import Wanted

BOUND, HOLD = 0.7, 24
LOGPROBS = st.lists(st.floats(-12, 0), min_size=1, max_size=80)
JUDGE = Judge()
PLAIN = Wanted()


def tokens(*probabilities: float) -> list[Token]:
    return [Token("word ", math.log(p)) for p in probabilities]


def judge(said: list[Token], text: str = "A sane sentence.", wanted: Wanted = PLAIN) -> float:
    confidence = JUDGE.confidence(said, text, finish_reason="stop", wanted=wanted, score=None)
    assert confidence is not None
    return confidence


def settled(said: list[Token], text: str = "A sane", wanted: Wanted = PLAIN) -> bool:
    return JUDGE.settled(said, text, hold_tokens=HOLD, wanted=wanted, bound=BOUND)


@pytest.mark.parametrize("length", [1, 3, 8, 40, 300])
def test_tokens_of_ninety_percent_pass(length: int) -> None:
    assert judge(tokens(*[0.9] * length)) >= BOUND


def test_a_long_sure_answer_with_one_unsure_token_passes() -> None:
    assert judge(tokens(*[0.97] * 30, 0.3, *[0.97] * 30)) >= BOUND


@given(LOGPROBS)
def test_a_mean_logprob_of_minus_one_point_two_fails(logprobs: list[float]) -> None:
    mean = sum(max(lp, -4.0) for lp in logprobs) / len(logprobs)
    shifted = [min(0.0, lp - max(0.0, mean + 1.2)) for lp in logprobs]
    if sum(max(lp, -4.0) for lp in shifted) / len(shifted) <= -1.2:
        assert judge([Token("x", lp) for lp in shifted]) < BOUND


@given(LOGPROBS, st.data())
def test_a_likelier_token_never_lowers_it(logprobs: list[float], data: st.DataObject) -> None:
    curve = Curve.shipped()
    place = data.draw(st.integers(0, len(logprobs) - 1))
    better = [*logprobs]
    better[place] = data.draw(st.floats(logprobs[place], 0))
    assert curve.confidence(better) >= curve.confidence(logprobs) - 1e-9


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40))
def test_it_stays_between_nought_and_one_whatever_a_backend_sends(logprobs: list[float]) -> None:
    assert 0 <= Curve.shipped().confidence(logprobs) <= 1


def test_a_passage_of_doubt_counts_beyond_the_mean() -> None:
    doubt = [0.3] * 16
    together = features([math.log(p) for p in [0.95] * 24 + doubt])
    scattered = features([math.log(p) for p in ([0.95, 0.95, 0.3, 0.95, 0.3] * 8)])
    assert together[0] == pytest.approx(scattered[0])
    assert together[1] < scattered[1]


def test_a_flaw_outweighs_sure_tokens() -> None:
    assert judge(tokens(*[0.99] * 30), "I'm sorry, I can't help with that.") == FLAWED < BOUND


@pytest.mark.parametrize(("text", "expected"), [("A sane sentence.", None), ("", FLAWED)])
def test_without_probabilities_only_a_flaw_is_known(text: str, expected: float | None) -> None:
    said = JUDGE.confidence([], text, finish_reason="stop", wanted=PLAIN, score=None)
    assert said == expected


def test_a_beginning_is_enough_after_the_held_tokens() -> None:
    assert not settled(tokens(*[0.6] * (HOLD - 1)))
    assert settled(tokens(*[0.6] * HOLD))


def test_a_clearly_good_beginning_is_let_go_early() -> None:
    assert not settled(tokens(*[0.99] * 11))
    assert settled(tokens(*[0.99] * 12))
    assert not settled(tokens(*[0.87] * 12)), "above the bound, but not clearly"


def test_a_visible_flaw_settles_it_at_once() -> None:
    assert settled(tokens(0.9), "我无法回答这个问题")


def test_json_is_held_to_its_end() -> None:
    assert not settled(tokens(*[0.99] * 200), '{"a": ', Wanted("json"))


def test_without_probabilities_as_much_text_is_held() -> None:
    assert not settled([], "short")
    assert settled([], "A longer beginning, which is long enough for some two dozen tokens or so.")


def test_the_shipped_curve_names_its_source_and_its_figures() -> None:
    asset = json.loads(files("hybridge.execution").joinpath("assets/confidence.json").read_text())
    figures = asset["figures_out_of_fold"]["all"]
    assert asset["source"]["answers_fitted"] >= 400
    assert figures["auroc"] > 0.7
    assert figures["ece"] < 0.1
    assert min(asset["curve"]["whole"], asset["curve"]["passage"]) > 0

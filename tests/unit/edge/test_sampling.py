"""How a token is chosen from its logits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hybridge.edge.sampling import Sampler, log_probabilities

LOGITS = arrays(
    np.float32, st.integers(2, 40), elements=st.floats(-20, 20, width=32, allow_nan=False)
)
ALL = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}


@given(LOGITS, st.integers(0, 2**32 - 1))
def test_the_choice_is_one_of_the_most_probable(logits, seed):
    sampler = Sampler(temperature=1.5, top_k=3, top_p=1.0, min_p=0.0, seed=seed)
    assert logits[sampler.noisy(logits).argmax()] >= np.sort(logits)[-min(3, len(logits))]


@given(LOGITS, st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_the_nucleus_holds_its_share_and_no_token_more(logits, seed, top_p):
    sampler = Sampler(temperature=2.0, top_k=0, top_p=top_p, min_p=0.0, seed=seed)
    chosen = sampler.noisy(logits).argmax()
    better = np.exp(log_probabilities(logits))[logits > logits[chosen]].sum()
    assert better <= top_p + 1e-4


@given(LOGITS, st.integers(0, 2**32 - 1))
def test_a_seed_repeats_itself_and_leaves_the_logits_alone(logits, seed):
    before = logits.copy()
    first, again = (
        Sampler(temperature=1.0, seed=seed, **ALL).noisy(logits).argmax() for _ in range(2)
    )
    assert first == again
    assert (logits == before).all()


@given(LOGITS, st.data())
def test_what_a_grammar_leaves_is_chosen_among_however_improbable(logits, data):
    left = data.draw(st.sets(st.integers(0, len(logits) - 1), min_size=1))
    allowed = np.zeros(len(logits), bool)
    allowed[list(left)] = True
    for temperature in (0.0, 1.0):
        sampler = Sampler(temperature=temperature, top_k=1, top_p=0.5, min_p=0.5, seed=1)
        assert sampler.noisy(logits, allowed).argmax() in left


def test_draws_follow_the_probabilities():
    logits = np.log(np.array([0.7, 0.2, 0.1], np.float32))
    sampler = Sampler(temperature=1.0, seed=7, **ALL)
    drawn = np.bincount([sampler.noisy(logits).argmax() for _ in range(4000)], minlength=3) / 4000
    assert drawn == pytest.approx([0.7, 0.2, 0.1], abs=0.03)


def test_temperature_zero_needs_no_computing_until_something_is_asked_for():
    assert Sampler(temperature=0, seed=1, **ALL).is_plain
    assert not Sampler(temperature=0, logit_bias={1: 5.0}, **ALL).is_plain
    assert not Sampler(temperature=0, repeat_penalty=1.1, **ALL).is_plain


def test_a_bias_and_penalties_change_the_choice():
    logits = np.array([1.0, 0.9, -1.0], np.float32)
    assert Sampler(temperature=0, logit_bias={2: 100.0, 99: 1.0}, **ALL).noisy(logits).argmax() == 2
    for penalty in ({"repeat_penalty": 1.5}, {"presence_penalty": 0.5}, {"frequency_penalty": 0.5}):
        sampler = Sampler(temperature=0, **penalty, **ALL)
        assert sampler.noisy(logits).argmax() == 0
        sampler.saw(0)
        assert sampler.noisy(logits).argmax() == 1


@given(LOGITS)
def test_probabilities_sum_to_one(logits):
    assert np.exp(log_probabilities(logits)).sum() == pytest.approx(1, abs=1e-4)

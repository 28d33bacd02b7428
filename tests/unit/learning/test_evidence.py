"""What comparisons weigh: rare ones more, old ones less, and never more than they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.learning.evidence import PROPENSITY_LEAST, Evidence, Pair, in_order, weights

NOW = datetime(2030, 1, 2, tzinfo=UTC)
MONTH = timedelta(days=30)


def evidence(propensity: float = 1.0, days: float = 0.0, name: str = "r") -> Evidence:
    pair = Pair("local", "v1", "gpt")
    at = NOW - timedelta(days=days)
    return Evidence(pair, at, "chat", 0.0, propensity, 0.5, request_id=name)


def test_nothing_weighs_nothing():
    assert weights([], NOW, MONTH).shape == (0,)


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=50))
def test_together_they_never_weigh_more_than_they_are(propensities):
    counted = weights([evidence(p) for p in propensities], NOW, MONTH)
    assert (counted > 0).all()
    assert counted.sum() <= len(propensities) * (1 + 1e-9)


def test_what_was_compared_rarely_stands_for_more_but_not_without_end():
    often, seldom, hardly = weights([evidence(1.0), evidence(0.5), evidence(0.001)], NOW, MONTH)
    assert seldom == pytest.approx(2 * often)
    assert hardly == pytest.approx(often / PROPENSITY_LEAST)


def test_it_halves_with_every_half_life():
    now, month, two = weights([evidence(days=d) for d in (0, 30, 60)], NOW, MONTH)
    assert (now, month, two) == pytest.approx((1.0, 0.5, 0.25))


def test_a_clock_that_went_back_makes_nothing_weigh_more():
    assert weights([evidence(days=-3)], NOW, MONTH) == pytest.approx(np.ones(1))


@given(st.permutations(range(6)))
def test_the_order_is_that_of_time(order):
    found = [evidence(days=n, name=str(n)) for n in range(6)]
    assert in_order([found[n] for n in order]) == found[::-1]

"""When something is wrong."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.events import BreakerMoved, HealthMoved
from hybridge.core.request import Tier
from hybridge.telemetry.alerts import rules
from hybridge.telemetry.alerts.alert import Name
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.alerts.moving import SLOTS, Mean, Means, Moving

CONFIG = AlertsConfig()
VALUES = st.lists(
    st.tuples(st.floats(min_value=0, max_value=200), st.integers(0, 1000)), max_size=80
)


def means(late: tuple[int, float], before: tuple[int, float]) -> Means:
    return Means(*(Mean(count, count * value) for count, value in (late, before)))


def test_a_backend_is_unavailable_until_it_is_well():
    gone = rules.health(HealthMoved("local", available=False, reason="", tier=Tier.EDGE))
    well = rules.health(HealthMoved("local", available=True, reason="", tier=Tier.EDGE))
    assert (gone.name, gone.subject, gone.bad) == (Name.BACKEND_UNAVAILABLE, "local", True)
    assert not well.bad


def test_a_breaker_is_wrong_from_open_to_closed():
    found = [
        rules.breaker(BreakerMoved("gpt", "?", new, "")) for new in ("open", "half_open", "closed")
    ]
    assert [None if one is None else one.bad for one in found] == [True, None, False]


@pytest.mark.parametrize(
    ("told", "budget", "limit"),
    [
        ("100", "100", "95"),
        ("100", "50", "47.5"),
        ("100", "500", "100"),
        ("100", None, "100"),
        (None, "100", None),
    ],
)
def test_a_limit_that_no_budget_keeps_out_of_reach(told, budget, limit):
    one, other, expected = (None if x is None else Decimal(x) for x in (told, budget, limit))
    assert rules.cost_limit(one, other) == expected


def test_cost_is_wrong_from_its_limit_on():
    limit = Decimal(95)
    assert not rules.cost(Decimal("94.99"), limit).bad
    assert rules.cost(Decimal(95), limit).bad
    assert not rules.cost(Decimal(1000), None).bad
    assert not rules.cost(Decimal(0), Decimal(0)).bad


def test_latency_is_wrong_half_above_what_is_usual():
    assert not rules.latency(Tier.EDGE, means((30, 150.0), (30, 100.0)), CONFIG).bad
    found = rules.latency(Tier.EDGE, means((30, 151.0), (30, 100.0)), CONFIG)
    assert (found.bad, found.subject, found.value, found.limit) == (True, "edge", 151.0, 150.0)


@pytest.mark.parametrize(("late", "before"), [(29, 1000), (1000, 29), (0, 0)])
def test_latency_needs_enough_requests(late, before):
    assert not rules.latency(Tier.EDGE, means((late, 900.0), (before, 1.0)), CONFIG).bad


def test_agreement_is_wrong_well_below_what_is_usual():
    assert not rules.agreement(means((50, 0.75), (50, 0.875)), CONFIG).bad
    assert rules.agreement(means((50, 0.7), (50, 0.9)), CONFIG).bad
    assert not rules.agreement(means((49, 0.1), (50, 0.9)), CONFIG).bad


def test_each_rule_can_be_switched_off():
    off = AlertsConfig(latency_ratio=None, agreement_drop=None)
    assert not rules.latency(Tier.EDGE, means((99, 9.0), (99, 1.0)), off).bad
    assert not rules.agreement(means((99, 0.0), (99, 1.0)), off).bad


@given(VALUES)
def test_moving_means_are_those_of_all_values_in_their_time(values):
    moving, now_s, seen = Moving(late_s=100, before_s=400), 1000.0, []
    for pause_s, value in values:
        now_s += pause_s
        moving.add(value, now_s)
        seen.append((now_s // (100 / SLOTS), value))
        number = now_s // (100 / SLOTS)
        late = [v for n, v in seen if n > number - SLOTS]
        before = [v for n, v in seen if number - SLOTS - 20 < n <= number - SLOTS]
        found = moving.means(now_s)
        assert (found.late.count, found.before.count) == (len(late), len(before))
        assert found.late.total == sum(late)
        assert found.before.total == pytest.approx(sum(before))

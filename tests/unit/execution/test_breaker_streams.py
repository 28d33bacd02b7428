"""A breaker among long streams: what is under way counts, and slowness alone refuses nobody."""

from __future__ import annotations

import pytest

from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import BreakerMoved, Events, GatewayEvent
from hybridge.core.request import Tier
from hybridge.execution.breaker import Breaker
from hybridge.execution.config import ExecutionConfig
from hybridge.testing.clock import ManualClock

CONFIG = ExecutionConfig()
FAST, SLOW = 0.1, 0.8


@pytest.fixture
def heard() -> list[GatewayEvent]:
    return []


@pytest.fixture
def breaker(heard) -> Breaker:
    return Breaker("gpt", Tier.CLOUD, CONFIG, ManualClock(), Events(heard.append))


def under_way(breaker: Breaker, count: int, first_byte_s: float = FAST):
    permits = [breaker.admit() for _ in range(count)]
    for permit in permits:
        permit.began(first_byte_s)
    return permits


def test_a_few_broken_among_many_streams_do_not_open_it(breaker):
    permits = under_way(breaker, 1000)
    for permit in permits[::20]:
        permit.failed(Fault.NETWORK, None)
    assert breaker.state == "closed"


def test_streams_that_all_break_do(breaker):
    for permit in under_way(breaker, CONFIG.breaker_failures):
        permit.failed(Fault.NETWORK, None)
    assert breaker.state == "open"


def test_a_stream_that_breaks_counts_once(breaker):
    permits = under_way(breaker, CONFIG.breaker_failures)
    for permit in permits[:-1]:
        permit.failed(Fault.SERVER, None)
        permit.failed(Fault.SERVER, None)
    assert breaker.state == "closed"


def test_a_stream_of_before_says_nothing_about_an_open_breaker(breaker, heard):
    [old] = under_way(breaker, 1)
    for _ in range(CONFIG.breaker_failures):
        breaker.admit().failed(Fault.SERVER, None)
    old.succeeded(FAST)
    assert breaker.state == "open"
    assert len([event for event in heard if isinstance(event, BreakerMoved)]) == 1


def test_a_probe_that_streams_lets_the_others_in_as_soon_as_it_begins(breaker):
    for _ in range(CONFIG.breaker_failures):
        breaker.admit().failed(Fault.SERVER, None)
    breaker.clock.advance(CONFIG.breaker_open_s)
    probe = breaker.admit()
    with pytest.raises(BackendError):
        breaker.admit()
    probe.began(FAST)
    assert breaker.state == "closed"


@pytest.mark.parametrize("probing", [False, True], ids=["open", "half open"])
def test_one_that_is_merely_slow_advises_against_itself_but_refuses_nobody(breaker, probing):
    under_way(breaker, CONFIG.breaker_window, SLOW)
    if probing:
        breaker.clock.advance(CONFIG.breaker_open_s)
        breaker.admit()
    assert breaker.refusal()
    assert breaker.merely_slow
    breaker.admit().succeeded(SLOW)
    assert breaker.refusal()


def test_one_that_failed_is_not_merely_slow(breaker):
    for _ in range(CONFIG.breaker_failures):
        breaker.admit().failed(Fault.SERVER, None)
    assert not breaker.merely_slow
    with pytest.raises(BackendError):
        breaker.admit()

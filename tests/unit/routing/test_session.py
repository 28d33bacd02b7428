"""Sessions remember a little, for a while (R6)."""

from __future__ import annotations

import pytest

from hybridge.core.request import Tier
from hybridge.routing.session import Sessions, SessionView
from hybridge.testing.clock import ManualClock

NEW = SessionView((), None)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_a_view_leaves_room_for_this_requests_own_score(clock: ManualClock) -> None:
    sessions = Sessions(3, 60.0, clock)
    assert sessions.view("a") == NEW
    for score in (1.0, 2.0, 3.0):
        sessions.bind("a", score, Tier.EDGE)
    assert sessions.view("a") == SessionView((2.0, 3.0), Tier.EDGE)
    assert sessions.view("b") == NEW


def test_a_window_of_one_looks_at_nothing_before(clock: ManualClock) -> None:
    sessions = Sessions(1, 60.0, clock)
    sessions.bind("a", 9.0, Tier.CLOUD)
    assert sessions.view("a") == SessionView((), Tier.CLOUD)


def test_a_request_without_a_score_moves_only_the_tier(clock: ManualClock) -> None:
    sessions = Sessions(3, 60.0, clock)
    sessions.bind("a", 2.0, Tier.EDGE)
    sessions.bind("a", None, Tier.CLOUD)
    assert sessions.view("a") == SessionView((2.0,), Tier.CLOUD)


def test_no_key_no_session(clock: ManualClock) -> None:
    sessions = Sessions(3, 60.0, clock)
    sessions.bind(None, 5.0, Tier.EDGE)
    assert sessions.view(None) == NEW
    assert len(sessions) == 0


def test_silence_is_forgotten_and_what_speaks_is_not(clock: ManualClock) -> None:
    sessions = Sessions(3, 60.0, clock)
    sessions.bind("quiet", 9.0, Tier.CLOUD)
    sessions.bind("busy", 9.0, Tier.CLOUD)
    clock.advance(40)
    sessions.bind("busy", 8.0, Tier.CLOUD)
    clock.advance(20)
    assert sessions.view("quiet") == NEW
    assert sessions.view("busy").scores == (9.0, 8.0)
    sessions.bind("quiet", 1.0, Tier.EDGE)
    assert sessions.view("quiet") == SessionView((1.0,), Tier.EDGE)


def test_memory_is_bounded_in_number_and_time(clock: ManualClock) -> None:
    sessions = Sessions(3, 60.0, clock, capacity=2)
    for key in "abc":
        sessions.bind(key, 5.0, Tier.EDGE)
    assert len(sessions) == 2
    assert sessions.view("a") == NEW
    clock.advance(61)
    sessions.bind("d", 5.0, Tier.EDGE)
    assert len(sessions) == 1


def test_a_hundred_thousand_sessions_do_not_fill_the_memory(clock: ManualClock) -> None:
    """Whoever makes up a new session for each request only pushes out older ones."""
    sessions = Sessions(3, 60.0, clock, capacity=1000)
    for number in range(100_000):
        sessions.bind(f"session-{number}", 5.0, Tier.EDGE)
        assert len(sessions) <= 1000
    assert sessions.view("session-98999") == NEW
    assert sessions.view("session-99000") == SessionView((5.0,), Tier.EDGE)
    for number in range(100_000):
        sessions.view(f"stranger-{number}")
    assert len(sessions) == 1000, "looking makes no session"
    clock.advance(61)
    sessions.bind("later", 5.0, Tier.EDGE)
    assert len(sessions) == 1


def test_a_session_that_speaks_stays_when_others_are_made_up(clock: ManualClock) -> None:
    sessions = Sessions(3, 60.0, clock, capacity=10)
    for number in range(500):
        sessions.bind(f"made-up-{number}", 5.0, Tier.EDGE)
        sessions.bind("real", 9.0, Tier.CLOUD)
    assert sessions.view("real") == SessionView((9.0, 9.0), Tier.CLOUD)

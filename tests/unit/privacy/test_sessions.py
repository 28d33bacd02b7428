"""A session that has shown personal data stays here (R32)."""

from __future__ import annotations

from hybridge.privacy.sessions import PrivateSessions
from hybridge.testing.clock import ManualClock


def test_it_is_remembered_as_long_as_it_goes_on() -> None:
    clock = ManualClock()
    sessions = PrivateSessions(10.0, clock)
    sessions.note("a")
    clock.advance(9.0)
    assert sessions.holds("a")
    sessions.note("a")
    clock.advance(9.0)
    assert sessions.holds("a")
    clock.advance(1.0)
    assert not sessions.holds("a")
    assert len(sessions) == 0


def test_one_is_not_another() -> None:
    sessions = PrivateSessions(10.0, ManualClock())
    sessions.note("a")
    sessions.note(None)
    assert not sessions.holds("b")
    assert not sessions.holds(None)


def test_its_memory_is_bounded() -> None:
    sessions = PrivateSessions(10.0, ManualClock(), capacity=2)
    for name in ("a", "b", "a", "c"):
        sessions.note(name)
    assert [name for name in "abc" if sessions.holds(name)] == ["a", "c"]

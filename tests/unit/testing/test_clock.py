"""A clock that moves only when told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hybridge.core.clock import Deadline
from hybridge.testing.clock import ManualClock


def test_it_stands_still_until_it_is_moved():
    clock = ManualClock(start_s=5.0, now=datetime(2030, 1, 1, tzinfo=UTC))
    assert (clock.monotonic(), clock.monotonic()) == (5.0, 5.0)
    clock.advance(90)
    assert clock.monotonic() == 95.0
    assert clock.now() == datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=90)


def test_it_never_goes_back():
    with pytest.raises(ValueError, match="back"):
        ManualClock().advance(-1)


def test_deadlines_pass_on_it():
    clock = ManualClock()
    deadline = Deadline.after(10, clock)
    clock.advance(4)
    assert deadline.remaining_s == 6.0
    clock.advance(7)
    assert deadline.expired
    assert deadline.remaining_s == 0.0

"""Time as a value that can be passed in: nothing below `wiring` reads a clock of its own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct


class Clock(Protocol):
    """Where the time comes from. `hybridge.testing.ManualClock` stands still until told."""

    def monotonic(self) -> float:
        """Seconds that never go back; the event loop's own scale."""
        ...

    def now(self) -> datetime:
        """The date and time, in UTC."""
        ...


class SystemClock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)


class Deadline(Struct, frozen=True):
    """The one moment by which a request has its answer. Every step of it shares the same one."""

    at_s: float
    """The moment, on the clock's monotonic scale."""
    clock: Clock

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> Deadline:
        """The moment `seconds` from now."""
        return cls(clock.monotonic() + seconds, clock)

    @property
    def remaining_s(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.at_s - self.clock.monotonic())

    @property
    def expired(self) -> bool:
        """Whether the moment has passed."""
        return self.remaining_s <= 0.0

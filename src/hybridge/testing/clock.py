"""A clock that stands still until it is told to move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Implements `core.clock.Clock`; both of its scales move only by `advance`."""

    def __init__(
        self, start_s: float = 1000.0, now: datetime = datetime(2030, 1, 1, tzinfo=UTC)
    ) -> None:
        self._monotonic_s = start_s
        self._now = now

    def monotonic(self) -> float:
        """Seconds on a scale that begins at `start_s`."""
        return self._monotonic_s

    def now(self) -> datetime:
        """The date and time, in UTC."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves both scales forward. Raises `ValueError` for a negative step."""
        if seconds < 0:
            raise ValueError("a clock does not go back")
        self._monotonic_s += seconds
        self._now += timedelta(seconds=seconds)

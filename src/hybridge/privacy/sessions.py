"""Sessions that have shown personal data, so that their later requests stay here too (R32)."""

from __future__ import annotations

from collections import OrderedDict

from hybridge.core.clock import Clock

CAPACITY = 100_000


class PrivateSessions:
    """Keys of sessions, in memory. They come scoped to their tenant."""

    def __init__(self, ttl_s: float, clock: Clock, capacity: int = CAPACITY) -> None:
        """One that is silent for `ttl_s` is forgotten, and beyond `capacity` the one that was
        silent longest."""
        self.ttl_s = ttl_s
        self._clock = clock
        self._capacity = capacity
        self._until_s: OrderedDict[str, float] = OrderedDict()
        """The one that was heard of last comes last."""

    def __len__(self) -> int:
        return len(self._until_s)

    def note(self, session: str | None) -> None:
        """It has shown personal data, or goes on after it has."""
        if session is None:
            return
        self._until_s.pop(session, None)
        self._until_s[session] = self._clock.monotonic() + self.ttl_s
        while len(self._until_s) > self._capacity:
            self._until_s.popitem(last=False)

    def holds(self, session: str | None) -> bool:
        """Whether it has shown personal data."""
        if session is None or not self._until_s:
            return False
        until_s = self._until_s.get(session)
        if until_s is None:
            return False
        if self._clock.monotonic() < until_s:
            return True
        del self._until_s[session]
        return False

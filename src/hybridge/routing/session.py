"""What a session did lately, so that its next request tends to the same tier (R6)."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

from msgspec import Struct

from hybridge.core.clock import Clock
from hybridge.core.request import Tier


class SessionView(Struct, frozen=True):
    """A session as planning sees it."""

    scores: tuple[float, ...] = ()
    """Its last scores, oldest first; one less than the window, which this request's completes."""
    tier: Tier | None = None
    """The tier it leans to; None for one that is new."""


NEW = SessionView()


@dataclass(slots=True)
class _Session:
    scores: deque[float]
    tier: Tier
    expires_s: float


class Sessions:
    """Sessions in memory, bounded in number and in time. Keys come scoped to their tenant."""

    def __init__(self, window: int, ttl_s: float, clock: Clock, capacity: int = 10_000) -> None:
        """`window` scores are averaged; a session that is silent for `ttl_s` is forgotten, and so
        is the one that was silent longest when there are more than `capacity`."""
        self._window = window
        self._ttl_s = ttl_s
        self._clock = clock
        self._capacity = capacity
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        """The one that was bound last comes last, so the expired ones come first."""

    def __len__(self) -> int:
        return len(self._sessions)

    def resize(self, window: int, ttl_s: float) -> None:
        """From now on these hold; a session that is known expires when it would have."""
        self._window, self._ttl_s = window, ttl_s
        for session in self._sessions.values():
            session.scores = deque(session.scores, maxlen=window - 1)

    def view(self, key: str | None) -> SessionView:
        """How things stand before this request. Looking at a session does not keep it alive."""
        session = self._sessions.get(key) if key is not None else None
        if session is None or session.expires_s <= self._clock.monotonic():
            return NEW
        return SessionView(tuple(session.scores), session.tier)

    def bind(self, key: str | None, score: float | None, tier: Tier) -> None:
        """Notes a served request: its score, if it had one, and the tier the session leans to."""
        if key is None:
            return
        now = self._clock.monotonic()
        session = self._sessions.pop(key, None)
        if session is None or session.expires_s <= now:
            session = _Session(deque(maxlen=self._window - 1), tier, 0.0)
        if score is not None:
            session.scores.append(score)
        session.tier = tier
        session.expires_s = now + self._ttl_s
        self._sessions[key] = session
        self._forget(now)

    def _forget(self, now: float) -> None:
        while self._sessions:
            oldest = next(iter(self._sessions.values()))
            if len(self._sessions) <= self._capacity and oldest.expires_s > now:
                return
            self._sessions.popitem(last=False)

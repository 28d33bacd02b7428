"""Leaves a backend alone for a while after it failed (R43).

    closed ──failures, failure rate, slow rate, asked to wait──▶ open ──time──▶ half-open
       ▲                                                          ▲                │
       └─────────────── the probe succeeded, or its stream began ─┼────────────────┤
                                                                  └── it failed ───┘

Every admitted call holds a `Permit`. A permit belongs to the state that gave it out: what an old
call has to say about an opening that came after it counts for nothing.
"""

from __future__ import annotations

from hybridge.core.clock import Clock
from hybridge.core.errors import RATE_LIMITED, BackendError, Fault
from hybridge.core.events import BreakerMoved, Events
from hybridge.core.request import Tier
from hybridge.execution.breaker_states import Cause, Closed, Open, State, rest
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.permit import Permit, Unguarded


class Breaker:
    """One backend's breaker. All its time comes from the clock it was given."""

    def __init__(
        self, backend: str, tier: Tier, config: ExecutionConfig, clock: Clock, events: Events
    ) -> None:
        self.backend = backend
        self.config = config
        self.clock = clock
        self.is_local = tier is Tier.EDGE
        self._events = events
        self._served_s: float | None = None
        self._state: State = Closed(self)

    @property
    def state(self) -> str:
        """`closed`, `open` or `half_open`."""
        return self._state.name

    @property
    def retry_after_s(self) -> float:
        """Seconds until it may be asked again; 0 when it may be now."""
        return self._state.retry_after_s

    @property
    def limited(self) -> bool:
        """Whether it is left alone because of its rate limit."""
        state = self._state
        return isinstance(state, Open) and state.cause is Cause.LIMITED and state.retry_after_s > 0

    @property
    def merely_slow(self) -> bool:
        """Whether it is left alone for nothing but its slowness."""
        return self._state.cause is Cause.SLOWNESS

    def refusal(self) -> str | None:
        """Why it would refuse a call now, in words; changes nothing."""
        return self._state.refusal()

    def admit(self) -> Permit:
        """Lets one call through. Raises `BackendError` (REFUSED) when it may not be made.

        Who asks a slow backend all the same has nobody else to ask, and does not wait in vain.
        """
        refusal = self._state.refusal()
        if refusal is not None:
            if self.merely_slow:
                return Unguarded()
            raise BackendError(
                f"{self.backend}: {refusal}",
                backend=self.backend,
                fault=Fault.REFUSED,
                retry_after_s=self.retry_after_s or None,
                body={"code": RATE_LIMITED} if self.limited else None,
            )
        return self._state.admit()

    def served_within(self, seconds: float) -> bool:
        """Whether a call that was admitted here succeeded in the last `seconds`."""
        return self._served_s is not None and self.clock.monotonic() - self._served_s < seconds

    def reached(self) -> None:
        """A health probe succeeded: a backend that could not be reached is tried at once.

        For other failures a probe proves nothing: a server that breaks on every question may
        still list its models.
        """
        if isinstance(self._state, Open) and self._state.cause is Cause.UNREACHABLE:
            self._state.end("a health probe reached it")

    def served(self) -> None:
        """A call succeeded, whichever state it was admitted in."""
        self._served_s = self.clock.monotonic()

    def rest(self, seconds: float, fault: Fault) -> None:
        """The backend asked to be left alone; whichever call was told so, it holds from now on."""
        rest(self, self._state, seconds, fault)

    def move(self, new: State, reason: str) -> None:
        """Changes the state, and says so."""
        old, self._state = self._state, new
        self._events.emit(BreakerMoved(self.backend, old.name, new.name, reason))

    def is_in(self, state: object) -> bool:
        """Whether this very state is the one in force."""
        return self._state is state

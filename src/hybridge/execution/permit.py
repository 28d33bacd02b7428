"""The right to make one call, and the duty to say how it went, once."""

from __future__ import annotations

from typing import Protocol

from hybridge.core.errors import Fault


class Permit(Protocol):
    """Whoever holds one calls exactly one of these; further calls count for nothing."""

    def succeeded(self, first_byte_s: float) -> None:
        """The answer came to its end; its first event took that many seconds."""
        ...

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        """It did not. A caller's own fault counts for nothing."""
        ...

    def abandon(self) -> None:
        """Nobody waits for it any more; it says nothing about the backend."""
        ...


class Giver(Protocol):
    """The state that gave a permit out, as the permit sees it."""

    def succeeded(self, first_byte_s: float) -> None: ...

    def failed(self, fault: Fault, retry_after_s: float | None) -> None: ...

    def released(self) -> None:
        """The call ended without a verdict: its place is free again."""
        ...


class Current(Protocol):
    """The breaker, as a permit sees it."""

    def is_in(self, state: object) -> bool:
        """Whether this very state is still in force."""
        ...

    def served(self) -> None:
        """A call succeeded; good to know even when it is stale."""
        ...


class Ticket:
    """A permit that reports to the state it came from, as long as that is still in force."""

    def __init__(self, giver: Giver, breaker: Current) -> None:
        self._giver = giver
        self._breaker = breaker
        self._used = False

    def succeeded(self, first_byte_s: float) -> None:
        """See `Permit`."""
        self._breaker.served()
        if self._use():
            self._giver.succeeded(first_byte_s)

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        """See `Permit`."""
        if not fault.counts_for_breaker:
            self.abandon()
        elif self._use():
            self._giver.failed(fault, retry_after_s)

    def abandon(self) -> None:
        """See `Permit`."""
        if self._use():
            self._giver.released()

    def _use(self) -> bool:
        """Whether what is said now counts: it is the first word, and it is not stale."""
        first, self._used = not self._used, True
        return first and self._breaker.is_in(self._giver)


class Unguarded:
    """A permit for what no breaker watches, such as a kept answer."""

    def succeeded(self, first_byte_s: float) -> None:
        """Nobody is told."""

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        """Nobody is told."""

    def abandon(self) -> None:
        """Nobody is told."""

"""The right to make one call, and the duty to say how it went, once."""

from __future__ import annotations

from typing import Protocol

from hybridge.core.errors import Again, Fault


class Permit(Protocol):
    """Whoever holds one says how the call ended, once; further words count for nothing."""

    def began(self, first_byte_s: float) -> None:
        """A stream has begun, after that many seconds. It may still break."""
        ...

    def succeeded(self, first_byte_s: float) -> None:
        """The answer came to its end; its first event took that many seconds."""
        ...

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        """It did not. A caller's own fault counts for nothing."""
        ...

    def abandon(self) -> None:
        """Nobody waits for it any more; it says nothing about the backend."""
        ...


class Begun(Protocol):
    """A call that has begun to answer, as the state that watches it now sees it."""

    @property
    def giver(self) -> Giver: ...

    def broke(self, fault: Fault) -> None:
        """It did not come to its end."""
        ...


class Giver(Protocol):
    """The state that gave a permit out, as the permit sees it."""

    def began(self, first_byte_s: float) -> Begun:
        """The call answers; who watches it from now on."""
        ...

    def failed(self, fault: Fault) -> None:
        """It failed before it had begun."""
        ...

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

    def rest(self, seconds: float, fault: Fault) -> None:
        """The backend asked to be left alone for so long; true whichever call it told."""
        ...


class Ticket:
    """A permit that reports to the state it came from, as long as that is still in force."""

    def __init__(self, giver: Giver, breaker: Current) -> None:
        self._giver = giver
        self._breaker = breaker
        self._begun: Begun | None = None
        self._used = False

    def began(self, first_byte_s: float) -> None:
        """See `Permit`."""
        if self._begun is None and not self._used and self._breaker.is_in(self._giver):
            self._begun = self._giver.began(first_byte_s)
            self._giver = self._begun.giver

    def succeeded(self, first_byte_s: float) -> None:
        """See `Permit`."""
        self._breaker.served()
        self.began(first_byte_s)
        self._used = True

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        """See `Permit`."""
        if retry_after_s and fault.again is Again.LATER and fault.counts_for_breaker:
            if not self._used:
                self._used = True
                self._breaker.rest(retry_after_s, fault)
        elif not fault.counts_for_breaker:
            self.abandon()
        elif self._use():
            if self._begun is None:
                self._giver.failed(fault)
            else:
                self._begun.broke(fault)

    def abandon(self) -> None:
        """See `Permit`."""
        if self._use() and self._begun is None:
            self._giver.released()

    def _use(self) -> bool:
        """Whether what is said now counts: it is the first word, and it is not stale."""
        first, self._used = not self._used, True
        return first and self._breaker.is_in(self._giver)


class Unguarded:
    """A permit for what no breaker watches, such as a kept answer."""

    def began(self, first_byte_s: float) -> None:
        """Nobody is told."""

    def succeeded(self, first_byte_s: float) -> None:
        """Nobody is told."""

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        """Nobody is told."""

    def abandon(self) -> None:
        """Nobody is told."""


class Discreet:
    """A permit whose holder asks for more than the request needs: that it failed, or found no room,
    is to keep nobody else from asking."""

    def __init__(self, permit: Permit) -> None:
        self._permit = permit

    def began(self, first_byte_s: float) -> None:
        """See `Permit`."""
        self._permit.began(first_byte_s)

    def succeeded(self, first_byte_s: float) -> None:
        """See `Permit`."""
        self._permit.succeeded(first_byte_s)

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        """It counts for nothing, whatever it was."""
        del fault, retry_after_s
        self._permit.abandon()

    def abandon(self) -> None:
        """See `Permit`."""
        self._permit.abandon()

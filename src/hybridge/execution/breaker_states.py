"""The states of a breaker: what each does with a call, and when it gives way to the next.

A cloud that is always a little slow must not be refused again and again, so slowness is judged
with care: it opens the breaker once, the probe that follows is judged by its success alone, and
from then on a call counts as slow only when it is twice as slow as that probe was.

A call counts from its first event, and anew should it break: of a thousand streams under way those
that break end first, and must not be taken for all there are.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from itertools import islice
from typing import Literal, Protocol

from hybridge.core.clock import Clock
from hybridge.core.errors import Fault
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.permit import Current, Permit, Ticket

SLOWER_THAN_USUAL = 2.0
"""How many times slower than its probe a backend that is slow by nature may get."""
LONGEST_REST_S = 600.0
"""The longest `Retry-After` that is kept to: a mistaken date must not shut a backend for a week."""


class Machine(Current, Protocol):
    """What a state needs of the breaker it belongs to."""

    config: ExecutionConfig
    clock: Clock
    is_local: bool

    def move(self, new: State, reason: str) -> None: ...


class Cause(Enum):
    """Why a breaker opened; it decides how it closes."""

    FAILURES = auto()
    UNREACHABLE = auto()
    """The last failure was of the network: the one thing that a health probe can speak to."""
    SLOWNESS = auto()
    ASKED = auto()
    """The backend itself asked to be left alone for a time (`Retry-After`)."""
    LIMITED = auto()
    """The same, because of its rate limit."""


class State(Protocol):
    """What a breaker does at the moment."""

    @property
    def name(self) -> str: ...

    @property
    def retry_after_s(self) -> float: ...

    @property
    def cause(self) -> Cause | None:
        """Why the backend is left alone; None while it is not."""
        ...

    def refusal(self) -> str | None: ...

    def admit(self) -> Permit: ...


_ASKED = (Cause.ASKED, Cause.LIMITED)


Verdict = Literal["well", "slow", "failed"]


class Seen:
    """A call that has begun, and may break."""

    __slots__ = ("counts", "giver", "verdict")

    def __init__(self, giver: Closed, verdict: Verdict, *, counts: bool = True) -> None:
        """`counts`: whether it is among the last calls."""
        self.giver = giver
        self.verdict: Verdict = verdict
        self.counts = counts

    def broke(self, fault: Fault) -> None:
        """It counts as failed, as long as it counts at all."""
        if self.counts:
            self.giver.broke(self, fault)


class Closed:
    """Calls go through; the last ones are remembered."""

    name = "closed"
    retry_after_s = 0.0
    cause = None

    def __init__(self, machine: Machine, usual_s: float = 0.0) -> None:
        config = machine.config
        self._machine = machine
        self._slow_s = max(config.breaker_slow_ms / 1000, SLOWER_THAN_USUAL * usual_s)
        self._most = max(config.breaker_window, config.breaker_failures)
        self._calls: deque[Seen] = deque()
        """In the order in which they began, or failed to."""
        self._number: dict[Verdict, int] = {"well": 0, "slow": 0, "failed": 0}
        """How many of them went how: every call is judged, so nobody counts them anew."""

    def refusal(self) -> None:
        return None

    def admit(self) -> Permit:
        return Ticket(self, self._machine)

    def began(self, first_byte_s: float) -> Seen:
        # A local model's first token is slow by nature; only a cloud is held to a limit.
        slow = first_byte_s > self._slow_s and not self._machine.is_local
        seen = self._note("slow" if slow else "well")
        if self._number["failed"] or slow:
            self._judge(Cause.FAILURES)
        return seen

    def failed(self, fault: Fault) -> None:
        self._note("failed")
        self._judge_failure(fault)

    def broke(self, seen: Seen, fault: Fault) -> None:
        """One of the last calls has failed after all."""
        self._number[seen.verdict] -= 1
        self._number["failed"] += 1
        seen.verdict = "failed"
        self._judge_failure(fault)

    def released(self) -> None:
        """A call without a verdict leaves no trace."""

    def _note(self, verdict: Verdict) -> Seen:
        calls, number = self._calls, self._number
        if len(calls) == self._most:
            gone = calls.popleft()
            gone.counts = False
            number[gone.verdict] -= 1
        seen = Seen(self, verdict)
        calls.append(seen)
        number[verdict] += 1
        return seen

    def _judge_failure(self, fault: Fault) -> None:
        in_a_row = self._machine.config.breaker_failures
        last = list(islice(reversed(self._calls), in_a_row))
        if len(last) == in_a_row and all(seen.verdict == "failed" for seen in last):
            _open(self._machine, _cause(fault), f"{in_a_row} failures in a row")
        else:
            self._judge(_cause(fault))

    def _judge(self, cause: Cause) -> None:
        """Opens the breaker if too many of the last calls failed or were slow."""
        config, calls = self._machine.config, len(self._calls)
        if calls < config.breaker_window:
            return
        failed, slow = self._number["failed"], self._number["slow"]
        if failed >= config.breaker_failure_rate * calls:
            _open(self._machine, cause, f"{failed} of the last {calls} calls failed")
        elif slow >= config.breaker_slow_rate * calls:
            _open(self._machine, Cause.SLOWNESS, f"{slow} of the last {calls} calls were slow")


class Open:
    """No call goes through until the time is over."""

    name = "open"

    def __init__(self, machine: Machine, for_s: float, cause: Cause) -> None:
        self._machine = machine
        self._until_s = machine.clock.monotonic() + for_s
        self.cause = cause

    @property
    def retry_after_s(self) -> float:
        return max(0.0, self._until_s - self._machine.clock.monotonic())

    def refusal(self) -> str | None:
        left_s = self.retry_after_s
        if left_s <= 0:
            return None
        seconds = max(1, round(left_s))
        if self.cause in _ASKED:
            return f"it asked to be left alone for another {seconds} s"
        return f"breaker open for another {seconds} s"

    def extend(self, for_s: float, cause: Cause) -> None:
        """Lasts at least so long from now."""
        until_s = self._machine.clock.monotonic() + for_s
        if until_s > self._until_s:
            self._until_s, self.cause = until_s, cause

    def admit(self) -> Permit:
        return self.end("its time is over").admit()

    def end(self, reason: str) -> State:
        """Ends the waiting. A local engine whose queue was full is not ill: it needs no probe."""
        rested = self.cause in _ASKED and self._machine.is_local
        new: State = Closed(self._machine) if rested else HalfOpen(self._machine, self.cause)
        self._machine.move(new, reason)
        return new


class HalfOpen:
    """Exactly one call goes through, the probe; how it goes decides."""

    name = "half_open"
    retry_after_s = 0.0

    def __init__(self, machine: Machine, cause: Cause) -> None:
        self._machine = machine
        self.cause = cause
        self._probing = False

    def refusal(self) -> str | None:
        return "breaker half open, its one probe is under way" if self._probing else None

    def admit(self) -> Permit:
        self._probing = True
        return Ticket(self, self._machine)

    def began(self, first_byte_s: float) -> Seen:
        usual_s = first_byte_s if self.cause is Cause.SLOWNESS else 0.0
        closed = Closed(self._machine, usual_s)
        self._machine.move(closed, "the probe succeeded")
        return Seen(closed, "well", counts=False)  # it has said what it had to

    def failed(self, fault: Fault) -> None:
        _open(self._machine, _cause(fault), f"the probe failed ({fault.value})")

    def released(self) -> None:
        self._probing = False


def _cause(fault: Fault) -> Cause:
    return Cause.UNREACHABLE if fault is Fault.NETWORK else Cause.FAILURES


def _open(machine: Machine, cause: Cause, reason: str) -> None:
    machine.move(Open(machine, machine.config.breaker_open_s, cause), reason)


def rest(machine: Machine, state: State, seconds: float, fault: Fault) -> None:
    """Leaves the backend alone as it asked, longer if it is to be left alone for longer already."""
    for_s = min(seconds, LONGEST_REST_S)
    cause = Cause.LIMITED if fault is Fault.LIMITED else Cause.ASKED
    if isinstance(state, Open):
        state.extend(for_s, cause)
    else:
        reason = f"it asked to be left alone for {for_s:.0f} s"
        machine.move(Open(machine, for_s, cause), reason)

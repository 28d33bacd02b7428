"""The states of a breaker: what each does with a call, and when it gives way to the next.

A cloud that is always a little slow must not be refused again and again, so slowness is judged
with care: it opens the breaker once, the probe that follows is judged by its success alone, and
from then on a call counts as slow only when it is twice as slow as that probe was.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from typing import Literal, Protocol

from hybridge.core.clock import Clock
from hybridge.core.errors import Fault
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.permit import Current, Permit, Ticket

SLOWER_THAN_USUAL = 2.0
"""How many times slower than its probe a backend that is slow by nature may get."""
LONGEST_WAIT_S = 3600.0
"""The longest `Retry-After` that is believed: a mistaken date must not shut a backend for good."""


class Machine(Current, Protocol):
    """What a state needs of the breaker it belongs to."""

    config: ExecutionConfig
    clock: Clock
    is_local: bool

    def move(self, new: State, reason: str) -> None: ...


class State(Protocol):
    """What a breaker does at the moment."""

    @property
    def name(self) -> str: ...

    @property
    def retry_after_s(self) -> float: ...

    def refusal(self) -> str | None: ...

    def admit(self) -> Permit: ...


class Cause(Enum):
    """Why a breaker opened; it decides how it closes."""

    FAILURES = auto()
    UNREACHABLE = auto()
    """The last failure was of the network: the one thing that a health probe can speak to."""
    SLOWNESS = auto()
    ASKED = auto()
    """The backend itself asked to be left alone for a time (`Retry-After`)."""


class Closed:
    """Calls go through; the last ones are remembered."""

    name = "closed"
    retry_after_s = 0.0

    def __init__(self, machine: Machine, usual_s: float = 0.0) -> None:
        config = machine.config
        self._machine = machine
        self._slow_s = max(config.breaker_slow_ms / 1000, SLOWER_THAN_USUAL * usual_s)
        self._failed_in_a_row = 0
        self._calls: deque[Literal["well", "slow", "failed"]] = deque(maxlen=config.breaker_window)

    def refusal(self) -> None:
        return None

    def admit(self) -> Permit:
        return Ticket(self, self._machine)

    def succeeded(self, first_byte_s: float) -> None:
        # A local model's first token is slow by nature; only a cloud is held to a limit.
        slow = not self._machine.is_local and first_byte_s > self._slow_s
        self._failed_in_a_row = 0
        self._calls.append("slow" if slow else "well")
        self._judge(Cause.FAILURES)

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        if fault is Fault.BUSY and retry_after_s:
            return _wait_as_asked(self._machine, retry_after_s)
        self._failed_in_a_row += 1
        self._calls.append("failed")
        return self._judge(_cause(fault))

    def released(self) -> None:
        """A call without a verdict leaves no trace."""

    def _judge(self, cause: Cause) -> None:
        config, calls = self._machine.config, len(self._calls)
        failed, slow = self._calls.count("failed"), self._calls.count("slow")
        if self._failed_in_a_row >= config.breaker_failures:
            _open(self._machine, cause, f"{self._failed_in_a_row} failures in a row")
        elif calls < config.breaker_window:
            return
        elif failed >= config.breaker_failure_rate * calls:
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
        return f"breaker open for another {max(1, round(left_s))} s" if left_s > 0 else None

    def admit(self) -> Permit:
        return self.end("its time is over").admit()

    def end(self, reason: str) -> State:
        """Ends the waiting. A local engine whose queue was full is not ill: it needs no probe."""
        rested = self.cause is Cause.ASKED and self._machine.is_local
        new: State = Closed(self._machine) if rested else HalfOpen(self._machine, self.cause)
        self._machine.move(new, reason)
        return new


class HalfOpen:
    """Exactly one call goes through, the probe; how it goes decides."""

    name = "half_open"
    retry_after_s = 0.0

    def __init__(self, machine: Machine, cause: Cause) -> None:
        self._machine = machine
        self._cause = cause
        self._probing = False

    def refusal(self) -> str | None:
        return "breaker half open, its one probe is under way" if self._probing else None

    def admit(self) -> Permit:
        self._probing = True
        return Ticket(self, self._machine)

    def succeeded(self, first_byte_s: float) -> None:
        usual_s = first_byte_s if self._cause is Cause.SLOWNESS else 0.0
        self._machine.move(Closed(self._machine, usual_s), "the probe succeeded")

    def failed(self, fault: Fault, retry_after_s: float | None) -> None:
        if fault is Fault.BUSY and retry_after_s:
            return _wait_as_asked(self._machine, retry_after_s)
        return _open(self._machine, _cause(fault), f"the probe failed ({fault.value})")

    def released(self) -> None:
        self._probing = False


def _cause(fault: Fault) -> Cause:
    return Cause.UNREACHABLE if fault is Fault.NETWORK else Cause.FAILURES


def _open(machine: Machine, cause: Cause, reason: str) -> None:
    machine.move(Open(machine, machine.config.breaker_open_s, cause), reason)


def _wait_as_asked(machine: Machine, retry_after_s: float) -> None:
    wait_s = min(retry_after_s, LONGEST_WAIT_S)
    reason = f"it asked to be left alone for {wait_s:.0f} s"
    machine.move(Open(machine, wait_s, Cause.ASKED), reason)

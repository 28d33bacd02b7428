"""What is told: one alert, as a value made of names and numbers only (R33)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class Name(StrEnum):
    """What can be wrong."""

    BACKEND_UNAVAILABLE = "backend_unavailable"
    BREAKER_OPEN = "breaker_open"
    CLOUD_COST = "cloud_cost"
    LATENCY = "latency"
    AGREEMENT = "agreement"


class State(StrEnum):
    """Whether it has begun or is over."""

    FIRING = "firing"
    RESOLVED = "resolved"


class Finding(Struct, frozen=True):
    """How one thing stands that can be wrong."""

    name: Name
    subject: str
    """What it is about: a backend's name, a tier, or `cloud`."""
    bad: bool
    value: float | None = None
    """What was measured, where something was."""
    limit: float | None = None
    """From where on it is wrong."""


class Alert(Struct, frozen=True):
    """That something has begun to be wrong, or is over."""

    name: Name
    state: State
    subject: str
    value: float | None
    limit: float | None
    at: datetime
    """When it was found."""
    since: datetime
    """When it began to be wrong."""

    @property
    def summary(self) -> str:
        """One sentence for people."""
        say = _OVER if self.state is State.RESOLVED else _WRONG
        return say[self.name].format(
            subject=self.subject, value=_short(self.value), limit=_short(self.limit)
        )


_WRONG = {
    Name.BACKEND_UNAVAILABLE: "backend {subject} is unavailable; the gateway's log says why",
    Name.BREAKER_OPEN: "backend {subject} fails and is left alone: its breaker is open",
    Name.CLOUD_COST: "the cloud cost {value} USD today, the limit is {limit} USD",
    Name.LATENCY: "mean latency of the {subject} tier is {value} ms; above {limit} ms is unusual",
    Name.AGREEMENT: "edge and cloud agree less: in {value} of all comparisons, below {limit}",
}
_OVER = {
    Name.BACKEND_UNAVAILABLE: "backend {subject} is available again",
    Name.BREAKER_OPEN: "backend {subject} is asked again: its breaker is closed",
    Name.CLOUD_COST: "the cloud's cost is below its limit again",
    Name.LATENCY: "mean latency of the {subject} tier is usual again",
    Name.AGREEMENT: "edge and cloud agree as before",
}


def _short(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"

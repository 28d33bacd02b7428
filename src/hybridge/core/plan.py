"""A decision about one request, as a value: what will be tried, in which order, and why."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from hybridge.core.request import Tier


class Route(StrEnum):
    """How a request was served (SPEC section 1)."""

    EDGE_RULE = "edge_rule"
    EDGE_CLASSIFIED = "edge_classified"
    CLOUD_CLASSIFIED = "cloud_classified"
    SHADOW = "shadow"
    CLOUD_ESCALATED = "cloud_escalated"
    CLOUD_FALLBACK = "cloud_fallback"
    EDGE_DEGRADED = "edge_degraded"
    EDGE_PRIVATE = "edge_private"
    CACHE = "cache"
    DIRECT = "direct"


class Score(Struct, frozen=True):
    """Complexity of a request (R2)."""

    p: float
    """Calibrated probability, 0-1, that the edge answer is not good enough."""
    source: str
    """Who spoke: `prior`, `prior-text` (the encoder was late or absent) or `adapter`."""
    version: str
    """Version of the head; with `+` and the adapter's, where that speaks."""
    reasons: tuple[str, ...] = ()
    """The signals that moved it most, strongest first."""
    took_ms: float = 0.0

    @property
    def value(self) -> float:
        """The score, 1-10: `1 + 9 p`."""
        return 1.0 + 9.0 * self.p

    @property
    def rounded(self) -> int:
        """The score as an integer, rounded half up; bands compare this one (R3)."""
        return int(self.value + 0.5)


class Thresholds(Struct, frozen=True):
    """The two boundaries (R3): up to `edge_max` edge, from `cloud_min` cloud, between shadow."""

    edge_max: int = 4
    """0-10."""
    cloud_min: int = 7
    """1-11, above `edge_max`."""
    version: str = "shipped"
    """Where they come from: `shipped`, `configured`, or a calibration's id (R20)."""


class Dropped(Struct, frozen=True):
    """A candidate that was removed, and why."""

    backend: str
    reason: str


class Attempt(Struct, frozen=True):
    """One backend to ask."""

    backend: str
    tier: Tier
    route: Route
    """What the request is called when this attempt serves it because it is the first."""
    judged: bool = False
    """Whether its answer must reach the confidence bound before any of it is returned (R5)."""


class Plan(Struct, frozen=True):
    """The decision about one request (R10). `explain` shows it, the runner walks it."""

    route: Route
    attempts: tuple[Attempt, ...]
    """In order, each backend once. Never empty: where nobody is left, planning raises."""
    thresholds: Thresholds
    score: Score | None = None
    """None where a rule, a constraint or the caller settled it first."""
    reasons: tuple[str, ...] = ()
    """Why, in reading order; the rule that settled it comes by its name."""
    dropped: tuple[Dropped, ...] = ()
    shadow: str | None = None
    """Edge backend to ask beside the cloud, for the record (R4)."""
    propensity: float = 1.0
    """With what probability this request was chosen for shadowing; 1 inside the band (R20)."""
    notice: str | None = None
    """What the caller should know, for instance that the cloud is not configured."""

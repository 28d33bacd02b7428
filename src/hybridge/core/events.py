"""What happened, for those who watch. Nobody who watches can delay or fail a reply."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from hybridge.core.errors import Fault
from hybridge.core.plan import Plan, Route, Score
from hybridge.core.request import Clearance, Tier
from hybridge.core.response import Usage
from hybridge.core.trail import Exit


class Served(Struct, frozen=True):
    """One request is over, well or not."""

    request_id: str
    at: datetime
    tenant: str
    session: str | None
    plan: Plan | None
    """None when it failed before there was one."""
    route: Route | None
    """How it was served in the end; None when it was not."""
    tier: Tier | None
    backend: str | None
    model: str | None
    confidence: float | None
    degraded: bool
    stream: bool
    overhead_ms: float
    """Time spent in this house before the first backend was asked."""
    first_event_ms: float | None
    """From arrival to the first event of the answer."""
    latency_ms: float
    """From arrival to the last event."""
    usage: Usage | None
    cost_usd: Decimal | None
    """None: unknown."""
    saved_usd: Decimal | None
    """What the cloud's preferred backend would have cost for the same tokens, less the cost."""
    error: str | None = None
    """Name of the error's class, when it failed. `cancelled` when the client hung up."""
    operation: str = "chat"
    """`chat` or `embeddings`."""
    traceparent: str | None = None
    """Of the caller's trace, as W3C Trace Context writes it; well formed."""
    clearance: Clearance = Clearance.ANYWHERE
    """How far it was allowed to travel."""
    found: tuple[str, ...] = ()
    """Personal data in it, `TYPE in place`: never a value."""
    version: str = ""
    """Of the weights that answered, where they are known."""
    exits: tuple[Exit, ...] = ()
    """Every time it left this device until it was over; `Exited` tells of those after that."""


class Exited(Struct, frozen=True):
    """A request that is over has left this device once more, for a comparison."""

    request_id: str
    at: datetime
    tenant: str
    clearance: Clearance
    left: Exit


class AttemptFailed(Struct, frozen=True):
    """One backend failed one call; another may still have served the request."""

    request_id: str
    backend: str
    tier: Tier
    fault: Fault
    at: datetime | None = None
    """When it failed."""


class Compared(Struct, frozen=True):
    """A shadow comparison (R4). Digests are SHA-256 of the normalised answers, never the text."""

    request_id: str
    at: datetime
    task: str
    score: Score | None
    propensity: float
    edge_backend: str
    cloud_backend: str
    edge_version: str
    scorer_version: str
    edge_digest: str
    cloud_digest: str
    similarity: float | None
    """0-1; None where none was taken."""
    agreed: bool
    method: str
    """`exact`, `number`, `label`, `json`, `tool_call`, `similarity`, `ngrams` or `judge`."""
    edge_confidence: float | None
    edge_ms: float
    cloud_ms: float
    view: bytes | None = None
    """What the adapter sees of the prompt, packed: numbers, no text. None where it is not kept."""
    head_version: str = ""
    """Version of the head that the view is of."""


class Judged(Struct, frozen=True):
    """A judge was to say which of two answers serves better (R21)."""

    request_id: str
    backend: str
    outcome: str
    """`edge`, `cloud` or `same`, or why there is none: `failed`, `over_budget`, `private`,
    `resting`, `undecided`, `unfit` or `unreadable`."""
    cost_usd: Decimal


class SecondOpinion(Struct, frozen=True):
    """A second answer was asked for, since the judge was undecided about the first (R5)."""

    request_id: str
    backend: str
    outcome: str
    """`agreed` or `disagreed`, or why it told nothing: `unusable` (cut off, or visibly bad),
    `late`, `failed`, `refused` (not asked after all) or `cancelled` (the caller hung up)."""
    usage: Usage | None
    """What it took, beside the usage of the answer that was returned; None where it never came."""


class ShadowDropped(Struct, frozen=True):
    """Shadow work that was over its bounds, or failed."""

    request_id: str
    reason: str
    """`queue_full`, `budget`, `edge_failed`, `cloud_failed` or `closing`."""


class BreakerMoved(Struct, frozen=True):
    """A backend's breaker changed its state: `closed`, `open` or `half_open`."""

    backend: str
    old: str
    new: str
    reason: str


class HealthMoved(Struct, frozen=True):
    """A backend became unavailable after failed health probes, or is well again (R42)."""

    backend: str
    available: bool
    reason: str
    """For logs only: it may repeat what the backend said."""
    tier: Tier | None = None


class ModelLoaded(Struct, frozen=True):
    """A local model is ready."""

    backend: str
    seconds: float


class Inferred(Struct, frozen=True):
    """A model of this device has computed (R58)."""

    backend: str
    phase: str
    """`prefill` (the prompt), `decode` (the answer) or `encode`."""
    tokens: int
    """Those that were computed, not those that were still known."""
    seconds: float


class ModelSwitched(Struct, frozen=True):
    """A local backend's weights were exchanged for another version, or were to be (R57)."""

    backend: str
    model: str
    """The model's name in the store."""
    version: str
    """The version that it is about."""
    outcome: str
    """`activated`, `rolled_back` and `promoted`: it is in force from now on. `on_trial`: it gets a
    share of the requests. `withdrawn`: it no longer does. `refused`: it could not be loaded, was
    not what it should be, or failed its check; what was in force stays so."""
    reason: str = ""
    """For logs only."""


IN_FORCE = ("activated", "promoted", "rolled_back")
"""Outcomes of `ModelSwitched` after which other weights answer."""


GatewayEvent = (
    Served
    | Exited
    | AttemptFailed
    | Compared
    | Judged
    | SecondOpinion
    | ShadowDropped
    | BreakerMoved
    | HealthMoved
    | ModelLoaded
    | Inferred
    | ModelSwitched
)
Subscriber = Callable[[GatewayEvent], None]

_log = logging.getLogger("hybridge.events")


class Events:
    """Hands each event to every subscriber, at once and in order; one that raises is logged."""

    def __init__(self, *subscribers: Subscriber) -> None:
        self._subscribers = list(subscribers)

    def subscribe(self, subscriber: Subscriber) -> None:
        self._subscribers.append(subscriber)

    def silence(self) -> None:
        """From now on nobody hears of anything."""
        self._subscribers.clear()

    def emit(self, event: GatewayEvent) -> None:
        for subscriber in self._subscribers:
            try:
                subscriber(event)
            except Exception:
                _log.exception("a subscriber failed on %s", type(event).__name__)

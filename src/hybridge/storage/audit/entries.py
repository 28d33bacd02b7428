"""What the audit trail says: one entry for each thing an auditor relies on, never a value."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import Struct

from hybridge.core.events import Exited, Served
from hybridge.core.plan import Route
from hybridge.core.request import Clearance, Tier
from hybridge.core.trail import Exit, Kind


class Head(Struct, frozen=True):
    """How far a chain goes: its last entry and the seal of that."""

    chain: str
    seq: int
    seal: str

    def __str__(self) -> str:
        return f"{self.chain} {self.seq} {self.seal}"


class Opened(Struct, frozen=True, tag_field="entry", tag="opened", omit_defaults=True):
    """A process begins its chain. It names how far the others go, so that none can be taken away
    or cut without a trace in those that began after it."""

    at: datetime
    chain: str
    release: str
    """Of Hybridge."""
    key: str | None = None
    """Fingerprint of the key that seals it; None: sealed without a key."""
    heads: tuple[Head, ...] = ()


class Asked(Struct, frozen=True, tag_field="entry", tag="request", omit_defaults=True):
    """One request, served or not."""

    request_id: str
    at: datetime
    tenant: str
    clearance: Clearance
    route: Route | None = None
    tier: Tier | None = None
    backend: str | None = None
    model: str | None = None
    found: tuple[str, ...] = ()
    """`TYPE in place`."""
    exits: tuple[Exit, ...] = ()
    error: str | None = None


class Left(Struct, frozen=True, tag_field="entry", tag="exit", omit_defaults=True):
    """A request that was over left once more, for a comparison."""

    request_id: str
    at: datetime
    tenant: str
    clearance: Clearance
    to: str
    kind: Kind = "backend"
    disguised: bool = False

    @property
    def exits(self) -> tuple[Exit, ...]:
        return (Exit(self.to, self.kind, self.disguised),)


class Lost(Struct, frozen=True, tag_field="entry", tag="lost", omit_defaults=True):
    """Entries that could not be kept: why the trail has a gap that nobody made."""

    at: datetime
    rows: int
    """How many, at most."""
    reason: str


class Closed(Struct, frozen=True, tag_field="entry", tag="closed", omit_defaults=True):
    """The process ended in good order, and nothing of it is missing."""

    at: datetime


Entry = Opened | Asked | Left | Lost | Closed

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


def entry_of(event: Served | Exited) -> bytes:
    """The entry of an event, encoded."""
    if isinstance(event, Exited):
        left = event.left
        return _encode(
            Left(
                event.request_id,
                event.at,
                event.tenant,
                event.clearance,
                left.to,
                left.kind,
                left.disguised,
            )
        )
    return _encode(
        Asked(
            event.request_id,
            event.at,
            event.tenant,
            event.clearance,
            event.route,
            event.tier,
            event.backend,
            event.model,
            event.found,
            event.exits,
            event.error,
        )
    )


def encoded(entry: Entry) -> bytes:
    """JSON in one line."""
    return _encode(entry)


def decoded(text: str) -> Entry:
    """Raises `msgspec.DecodeError` for what is no entry, or one of a later release."""
    return _decode(text)

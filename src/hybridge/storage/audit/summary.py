"""Adds up what the audit trail says: what was private, and where it went. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec
from msgspec import Struct

from hybridge.core.request import Clearance
from hybridge.core.trail import Exit
from hybridge.storage.audit.entries import Asked, Entry, Left, Lost

MOST = 1000
"""Violations that are told one by one."""


class Wanted(Struct, frozen=True):
    """Which entries count; without bounds all do."""

    since: datetime | None = None
    tenant: str | None = None
    request_id: str | None = None

    def covers(self, at: datetime) -> bool:
        """Whether a moment counts."""
        return self.since is None or at >= self.since

    def __call__(self, entry: Asked | Left) -> bool:
        return (
            self.covers(entry.at)
            and (self.tenant is None or entry.tenant == self.tenant)
            and (self.request_id is None or entry.request_id == self.request_id)
        )


class Violation(Struct, frozen=True):
    """A private request that left as it was."""

    request_id: str
    at: datetime
    tenant: str
    clearance: Clearance
    to: str


class Departures(Struct, frozen=True):
    """How often requests went to one place."""

    to: str
    kind: str
    disguised: bool
    count: int


class Summary:
    """What was added up so far."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.requests = 0
        self.failed = 0
        self.clearance: Counter[str] = Counter({clearance.value: 0 for clearance in Clearance})
        self.found: Counter[str] = Counter()
        """Requests that held a kind of personal data, by kind."""
        self.private: Counter[str] = Counter()
        """Requests that were bound to this device, by what became of them."""
        self.exits: Counter[tuple[str, str, bool]] = Counter()
        self.lost = 0
        """Entries that were not kept, whosever they were."""
        self.violations: list[Violation] = []
        self.more_violations = 0
        self.entries: list[dict[str, object]] = []
        """Of the one request that is wanted: all that is said of it."""

    def add(self, entry: Entry) -> None:
        """Counts an entry that is wanted."""
        if isinstance(entry, Lost) and self._wanted.covers(entry.at):
            self.lost += entry.rows
        if not isinstance(entry, Asked | Left) or not self._wanted(entry):
            return
        if isinstance(entry, Asked):
            self._add_request(entry)
        for left in entry.exits:
            self.exits[left.to, left.kind, left.disguised] += 1
        for left in wrong_exits(entry):
            self._add_violation(entry, left)
        if self._wanted.request_id is not None:
            self.entries.append(msgspec.to_builtins(entry))

    def departures(self) -> list[Departures]:
        """Where requests went, the most frequent first."""
        return [Departures(*key, count) for key, count in self.exits.most_common()]

    def _add_request(self, entry: Asked) -> None:
        self.requests += 1
        self.failed += entry.error is not None
        self.clearance[entry.clearance.value] += 1
        self.found.update({found.partition(" in ")[0] for found in entry.found})
        if entry.clearance is Clearance.DEVICE_ONLY:
            served = entry.error is None and entry.backend is not None
            self.private[f"served by {entry.backend}" if served else _unserved(entry)] += 1

    def _add_violation(self, entry: Asked | Left, left: Exit) -> None:
        if len(self.violations) >= MOST:
            self.more_violations += 1
            return
        of = (entry.request_id, entry.at, entry.tenant, entry.clearance)
        self.violations.append(Violation(*of, left.to))


def wrong_exits(entry: Asked | Left) -> Iterator[Exit]:
    """Those that its clearance forbids (R32)."""
    for left in entry.exits:
        undisguised = entry.clearance is Clearance.DISGUISED and not left.disguised
        if entry.clearance is Clearance.DEVICE_ONLY or undisguised:
            yield left


def _unserved(entry: Asked) -> str:
    return f"not served: {entry.error or 'unknown'}"

"""Writes what happened to a database, off the hot path, and reads it back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Self

from msgspec import Struct
from sqlalchemy import Table, select
from sqlalchemy.ext.asyncio import AsyncEngine

from hybridge.core.clock import Clock, SystemClock
from hybridge.core.events import Compared, Exited, GatewayEvent, Served
from hybridge.learning.evidence import Evidence
from hybridge.storage.audit.entries import entry_of
from hybridge.storage.audit.trail import AuditTrail
from hybridge.storage.bulk import Bulk
from hybridge.storage.comparisons import newest
from hybridge.storage.database import open_database
from hybridge.storage.rows import comparison, decision
from hybridge.storage.schema import comparisons, decisions

QUEUE = 10_000
"""Rows that may wait to be written; further ones are dropped and counted."""
BATCH = 500
"""Rows written in one transaction."""
LINGER_S = 0.2
"""How long a row may wait for company, so that a busy gateway writes in batches."""
CLOSE_S = 10.0
"""How long closing may take; a database that hangs must not hold up a shutdown."""

FULL = "the queue is full"
_log = logging.getLogger("hybridge.records")
_CLOCK = SystemClock()


class Row(Struct, frozen=True):
    """What is to be written of one event."""

    table: Table | None = None
    values: dict[str, Any] | None = None
    entry: bytes | None = None
    """What the audit trail says of it."""


class Records:
    """A subscriber that queues rows, and one task that writes them.

    A full disk or a lost database drops rows, which is counted in `dropped`, logged once until
    it works again, and told by the audit trail; a request is never delayed or failed by it.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        key: bytes | None = None,
        clock: Clock = _CLOCK,
        queue: int = QUEUE,
        linger_s: float = LINGER_S,
    ) -> None:
        """Starts writing; must be called on the event loop. `key` seals the audit trail."""
        self._engine = engine
        self._bulks = {table: Bulk(table, engine.dialect) for table in (decisions, comparisons)}
        self._trail = AuditTrail(engine.dialect, key, clock)
        self._linger_s = linger_s
        self._most = queue
        self._rows: list[Row] = []
        self._there = asyncio.Event()
        self._losing = False
        self._closed = False
        self._writer = asyncio.create_task(self._write(), name="records")
        self.dropped = 0
        """Rows that were lost."""

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        key: bytes | None = None,
        clock: Clock = _CLOCK,
        queue: int = QUEUE,
        linger_s: float = LINGER_S,
    ) -> Self:
        """Connects, makes the tables that are missing, starts writing. Raises `ConfigError`."""
        engine = await open_database(url)
        return cls(engine, key=key, clock=clock, queue=queue, linger_s=linger_s)

    def on_event(self, happened: GatewayEvent) -> None:
        """Queues the row of an event that has one; never waits."""
        row = _ROWS.get(type(happened))
        if row is None:
            return
        try:
            self._put(row(happened))
        except Exception:  # whatever cannot be told as it is, the trail says that it is missing
            self._lost(1, "it cannot be encoded", sealed=not isinstance(happened, Compared))
            raise

    async def close(self) -> None:
        """Writes what is queued and disconnects; what cannot be written in time is lost."""
        self._closed = True
        self._there.set()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._writer
        except TimeoutError:
            self._lost(len(self._rows), "the database does not answer")
        await self._engine.dispose()

    async def recent(self, limit: int = 100) -> Sequence[dict[str, Any]]:
        """The latest decisions, latest first."""
        return await self._latest(decisions, limit)

    async def comparisons(self, limit: int = 100) -> Sequence[dict[str, Any]]:
        """The latest comparisons, latest first."""
        return await self._latest(comparisons, limit)

    async def evidence(self, limit: int) -> list[Evidence]:
        """The latest comparisons as evidence to learn from, latest first."""
        async with self._engine.connect() as connection:
            return await newest(connection, limit)

    def _put(self, row: Row) -> None:
        if self._closed:
            self._lost(1, "closed already")
        elif len(self._rows) >= self._most:
            self._lost(1, FULL, sealed=row.entry is not None)
        else:
            self._rows.append(row)
            self._there.set()

    async def _write(self) -> None:
        while True:
            await self._there.wait()
            if not self._closed and len(self._rows) < BATCH:
                await asyncio.sleep(self._linger_s)
            batch = self._rows[:BATCH]
            del self._rows[:BATCH]
            if batch:
                await self._insert(batch)
            elif self._closed:
                if self._trail.begun:
                    await self._insert((), last=True)
                return
            if not self._rows and not self._closed:
                self._there.clear()

    async def _insert(self, batch: Sequence[Row], *, last: bool = False) -> None:
        entries = [row.entry for row in batch if row.entry is not None]
        sealing = last or bool(entries)
        try:
            async with self._engine.begin() as connection:
                for table, bulk in self._bulks.items():
                    rows = [row.values for row in batch if row.table is table and row.values]
                    if rows:
                        await bulk.write(connection, rows)
                if sealing:
                    await self._trail.write(connection, entries, last=last)
        except Exception as error:  # whatever a driver raises, the next batch may work again
            if sealing:
                self._trail.failed(len(entries), "the database did not take them")
            self._lost(len(batch), str(getattr(error, "orig", None) or type(error).__name__))
        else:
            if sealing:
                self._trail.written()
            self._losing = False

    def _lost(self, rows: int, reason: str, *, sealed: bool = False) -> None:
        self.dropped += rows
        if sealed:
            self._trail.lose(rows, reason)
        if not self._losing:
            self._losing = True
            _log.error("records are being dropped: %s", reason)

    async def _latest(self, table: Table, limit: int) -> Sequence[dict[str, Any]]:
        async with self._engine.connect() as connection:
            found = await connection.execute(select(table).order_by(table.c.id.desc()).limit(limit))
            return [dict(row) for row in found.mappings()]


def _of_request(event: Served) -> Row:
    return Row(decisions, decision(event), entry_of(event))


def _of_exit(event: Exited) -> Row:
    return Row(entry=entry_of(event))


def _of_comparison(event: Compared) -> Row:
    return Row(comparisons, comparison(event))


_ROWS: dict[type, Callable[[Any], Row]] = {
    Served: _of_request,
    Exited: _of_exit,
    Compared: _of_comparison,
}

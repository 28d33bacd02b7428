"""Seals what one process has to say and writes it, with the rest of its records."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import Dialect, bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hybridge._version import __version__
from hybridge.core.clock import Clock
from hybridge.storage.audit.entries import Closed, Entry, Head, Lost, Opened, encoded
from hybridge.storage.audit.seal import START, fingerprint, with_key, without_key
from hybridge.storage.bulk import Bulk, Prepared
from hybridge.storage.schema import audit, chains

NAMED = 32
"""Other chains whose heads an opening names: those that moved last."""

_MOVE = (
    update(chains)
    .where(chains.c.chain == bindparam("b_chain"))
    .values({name: bindparam(f"b_{name}") for name in ("seq", "seal", "at")})
)


class AuditTrail:
    """The chain of one process. It begins with the first entry.

    `write` belongs into the transaction of a batch; `written` or `failed` says how that ended.
    Whatever was lost before is told by the next batch that succeeds.
    """

    def __init__(self, dialect: Dialect, key: bytes | None, clock: Clock) -> None:
        self._add = Bulk(audit, dialect)
        self._move = Prepared(_MOVE, chains, dialect)
        self._seal = without_key if key is None else with_key(key)
        self._key = None if key is None else fingerprint(key)
        self._clock = clock
        self._head: Head | None = None
        self._next: Head | None = None
        """The head once the batch in hand is written."""
        self._in_hand = 0
        """Entries that are lost if it is not, those that it tells of included."""
        self._unsure = False
        """Whether the last batch failed: it may have been written all the same."""
        self._lost = 0
        self._reason = ""

    @property
    def begun(self) -> bool:
        """Whether there is something to close."""
        return self._head is not None or self._lost > 0

    def lose(self, rows: int, reason: str) -> None:
        """Entries that never came as far as a batch."""
        self._lost += rows
        self._reason = reason

    async def write(
        self, connection: AsyncConnection, entries: Sequence[bytes], *, last: bool = False
    ) -> None:
        """Writes a batch as one row; `last`: the chain ends with it."""
        head = await self._sure(connection) or await self._open(connection)
        block = list(entries)
        if self._lost:
            block.insert(0, encoded(Lost(self._clock.now(), self._lost, self._reason)))
        if last:
            block.append(encoded(Closed(self._clock.now())))
        self._in_hand = self._lost + len(entries)
        if block:
            head = await self._append(connection, head, block)
            moved = {"b_seq": head.seq, "b_seal": head.seal, "b_at": self._clock.now()}
            await self._move.write(connection, [{"b_chain": head.chain, **moved}])
        self._next = head

    def written(self) -> None:
        """The batch in hand is kept for good."""
        self._head, self._lost, self._in_hand = self._next, 0, 0

    def failed(self, rows: int, reason: str) -> None:
        """The batch in hand, of so many entries, is not kept, as far as anyone can tell."""
        self.lose(rows, reason)
        self._unsure = True

    async def _sure(self, connection: AsyncConnection) -> Head | None:
        """The head as this process knows it; as the database knows it, where that is in doubt."""
        if not self._unsure:
            return self._head
        known = self._next or self._head
        found = known and await _head(connection, known.chain)
        if found is not None and found == self._next != self._head:
            self._lost = max(0, self._lost - self._in_hand)  # it was written after all
            self._head = found
        self._unsure = False
        return found

    async def _open(self, connection: AsyncConnection) -> Head:
        others = await connection.execute(
            select(chains.c.chain, chains.c.seq, chains.c.seal)
            .order_by(chains.c.at.desc())
            .limit(NAMED)
        )
        chain, now = secrets.token_hex(8), self._clock.now()
        heads = tuple(Head(*other) for other in others)
        opening: Entry = Opened(now, chain, __version__, self._key, heads)
        head = await self._append(connection, Head(chain, 0, START), [encoded(opening)])
        values = {"chain": chain, "seq": head.seq, "seal": head.seal, "at": now}
        await connection.execute(insert(chains).values(values))
        return head

    async def _append(self, connection: AsyncConnection, head: Head, block: list[bytes]) -> Head:
        seal, lines = head.seal, []
        for entry in block:
            seal = self._seal(seal, entry)
            lines.append(f"{seal} {entry.decode()}")
        values = {"chain": head.chain, "seq": head.seq + 1, "entries": "\n".join(lines)}
        await self._add.write(connection, [values])
        return Head(head.chain, head.seq + len(block), seal)


async def _head(connection: AsyncConnection, chain: str) -> Head | None:
    columns = select(chains.c.chain, chains.c.seq, chains.c.seal)
    row = (await connection.execute(columns.where(chains.c.chain == chain))).first()
    return None if row is None else Head(*row)

"""Reads the audit trail, a page at a time, from a database that it never writes to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from hybridge.core.errors import ConfigError
from hybridge.storage.audit.entries import Head
from hybridge.storage.database import cannot_open, shown
from hybridge.storage.read_only import read_only
from hybridge.storage.schema import audit, chains

PAGE = 100
"""Rows that are in memory at once; each holds up to a batch of entries."""


class Reader:
    """Reads what is there now; a gateway may write on meanwhile."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def heads(self) -> dict[str, Head]:
        """How far each chain goes, those first that moved first."""
        query = select(chains.c.chain, chains.c.seq, chains.c.seal).order_by(chains.c.at)
        return {str(row[0]): Head(*row) for row in await self._connection.execute(query)}

    async def head(self, chain: str) -> Head | None:
        """How far one goes."""
        query = select(chains.c.chain, chains.c.seq, chains.c.seal).where(chains.c.chain == chain)
        row = (await self._connection.execute(query)).first()
        return None if row is None else Head(*row)

    async def chains(self) -> list[str]:
        """All that have rows."""
        found = await self._connection.execute(select(audit.c.chain).distinct())
        return [str(chain) for (chain,) in found]

    async def first_rows(self) -> AsyncIterator[Any]:
        """The first row of each chain: `chain, seq, entries`."""
        query = select(audit.c.chain, audit.c.seq, audit.c.entries).where(audit.c.seq == 1)
        last = ""
        while page := await self._page(query.where(audit.c.chain > last).order_by(audit.c.chain)):
            for row in page:
                yield row
            last = page[-1][0]

    async def rows(
        self, chain: str, after: int = 0, to: int | None = None
    ) -> AsyncIterator[tuple[Any, Any]]:
        """The rows of a chain in order, `seq, entries`, that begin after one entry and, where
        `to` is given, not after another."""
        query = select(audit.c.seq, audit.c.entries).where(audit.c.chain == chain)
        if to is not None:
            query = query.where(audit.c.seq <= to)
        query = query.order_by(audit.c.seq)
        first = query if after == 0 else query.where(audit.c.seq > after)
        page = await self._page(first)
        while page:
            for seq, entries in page:
                yield seq, entries
            page = await self._page(query.where(audit.c.seq > page[-1][0]))

    async def _page(self, query: Any) -> list[Any]:
        return list(await self._connection.execute(query.limit(PAGE)))


@asynccontextmanager
async def reading(address: str) -> AsyncIterator[Reader]:
    """A reader of the database at a URL. Raises `ConfigError` where there is no audit trail."""
    try:
        engine = create_async_engine(read_only(make_url(address)))
    except (SQLAlchemyError, ImportError) as error:
        raise ConfigError(cannot_open(address, error)) from error
    try:
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            if not await connection.run_sync(lambda sync: inspect(sync).has_table(audit.name)):
                raise ConfigError(
                    f"records.url: {shown(address)} has no audit trail: no gateway of this release "
                    "has opened it yet"
                )
            yield Reader(connection)
    except (SQLAlchemyError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        raise ConfigError(f"records.url: cannot read {shown(address)}: {cause}") from error
    finally:
        await engine.dispose()

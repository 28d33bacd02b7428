"""Comparisons as evidence to learn from, newest first."""

from __future__ import annotations

from typing import Any

from sqlalchemy import inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from hybridge.core.errors import ConfigError
from hybridge.learning.evidence import Evidence, Pair
from hybridge.storage.database import cannot_open, shown
from hybridge.storage.read_only import read_only
from hybridge.storage.schema import comparisons


async def newest(connection: AsyncConnection, limit: int) -> list[Evidence]:
    """The latest, at most `limit`."""
    query = select(comparisons).order_by(comparisons.c.id.desc()).limit(limit)
    return [_evidence(row) for row in (await connection.execute(query)).mappings()]


async def evidence_at(address: str, limit: int) -> list[Evidence]:
    """The same of the database at a URL, which is not written to. Raises `ConfigError`."""
    try:
        engine = create_async_engine(read_only(make_url(address)))
    except (SQLAlchemyError, ImportError) as error:
        raise ConfigError(cannot_open(address, error)) from error
    try:
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            if not await connection.run_sync(_has_views):
                raise ConfigError(
                    f"records.url: {shown(address)} holds no views: no gateway of this release has "
                    "opened it yet"
                )
            return await newest(connection, limit)
    except (SQLAlchemyError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        raise ConfigError(f"records.url: cannot read {shown(address)}: {cause}") from error
    finally:
        await engine.dispose()


def _has_views(connection: Any) -> bool:
    inspector, table = inspect(connection), comparisons.name
    if not inspector.has_table(table):
        return False
    return comparisons.c.view.name in {row["name"] for row in inspector.get_columns(table)}


def _evidence(row: Any) -> Evidence:
    return Evidence(
        pair=Pair(row["edge_backend"], row["edge_version"] or "", row["cloud_backend"]),
        at=row["at"],
        task=row["task"] or "",
        failed=0.0 if row["agreed"] else 1.0,
        propensity=row["propensity"],
        p=row["p"],
        view=row["view"],
        head=row["head_version"] or "",
        request_id=row["request_id"],
    )

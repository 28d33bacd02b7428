"""Opens the records' database: connects, makes the tables, takes older ones along, refuses what it
does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import URL, Connection, event, insert, inspect, select, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from hybridge.core.errors import ConfigError
from hybridge.storage.schema import ADDED, VERSION, metadata, schema_version

PRIVATE = 0o600
"""Mode of a new SQLite file, and so of the files that SQLite puts beside it."""
LOCK = 0x6879627269646765
"""Of PostgreSQL's advisory locks, the one held while tables are made: `hybridge` in ASCII."""


async def open_database(address: str) -> AsyncEngine:
    """An engine whose tables are there. Raises `ConfigError` that names `records.url`."""
    try:
        url = make_url(address)
        _make_private(url)
        engine = create_async_engine(url, json_serializer=_json)
    except (SQLAlchemyError, OSError, ImportError) as error:
        raise ConfigError(cannot_open(address, error)) from error
    if url.get_backend_name() == "sqlite":
        event.listen(engine.sync_engine, "connect", _tune_sqlite)
    try:
        async with engine.begin() as connection:
            await _prepare(connection, address)
    except (SQLAlchemyError, OSError) as error:
        await engine.dispose()
        raise ConfigError(cannot_open(address, error)) from error
    except ConfigError:
        await engine.dispose()
        raise
    return engine


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def _prepare(connection: AsyncConnection, address: str) -> None:
    """Makes the tables; one process after the other, where several begin at once.

    Version 1 had no audit trail: it gets one that begins now. Up to version 2 nothing was known of
    the weights that answered. Those before version 4 kept no views: their comparisons have none.
    """
    if connection.dialect.name == "sqlite":
        await connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif connection.dialect.name == "postgresql":
        await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
    await connection.run_sync(schema_version.create, checkfirst=True)
    version = (await connection.execute(select(schema_version.c.version))).scalar()
    if version is None:
        await connection.execute(insert(schema_version).values(version=VERSION))
    elif version < VERSION:
        await connection.run_sync(_add_columns)
        await connection.execute(update(schema_version).values(version=VERSION))
    elif version > VERSION:
        raise ConfigError(
            f"records.url: {shown(address)} was written by a later release (tables of version "
            f"{version}, not {VERSION}); name another database, or move this one away"
        )
    await connection.run_sync(metadata.create_all)


def _add_columns(connection: Connection) -> None:
    """Those that the tables of older versions lack."""
    for column in ADDED:
        table = column.table.name
        inspector = inspect(connection)
        known = (
            {row["name"] for row in inspector.get_columns(table)}
            if inspector.has_table(table)
            else None
        )
        if known is not None and column.name not in known:
            kind = column.type.compile(connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column.name} {kind}")


def cannot_open(address: str, error: Exception) -> str:
    """What is wrong, in words for whoever wrote the URL."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, ModuleNotFoundError) and cause.name == "asyncpg":
        return (
            f"records.url: {shown(address)} needs a driver that is not installed: "
            'pip install "hybridge[postgresql]"'
        )
    return (
        f"records.url: cannot open {shown(address)}: {cause}; it must be the URL of a database "
        "that can be written, such as sqlite+aiosqlite:///hybridge.db, or null for no records"
    )


def shown(address: str) -> str:
    """The URL without its password."""
    try:
        return make_url(address).render_as_string(hide_password=True)
    except SQLAlchemyError:
        return "the URL"


def _make_private(url: URL) -> None:
    """Makes a new SQLite file readable for its owner only."""
    name = url.database or ""
    in_memory = name in ("", ":memory:") or name.startswith("file:")
    if url.get_backend_name() == "sqlite" and not in_memory:
        Path(name).touch(mode=PRIVATE)


def _tune_sqlite(connection: Any, _record: Any) -> None:
    """Write-ahead logging: readers do not wait for the writer (sqlite.org/wal.html)."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA busy_timeout=5000")
    cursor.close()

"""R33 and the promise that records never delay or fail a request, on real SQLite files."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hybridge.core.errors import ConfigError
from hybridge.core.events import Compared, ModelLoaded, Served
from hybridge.core.plan import Attempt, Dropped, Plan, Route, Score, Thresholds
from hybridge.core.request import Tier
from hybridge.core.response import Usage
from hybridge.storage.records import Records
from hybridge.storage.schema import VERSION, metadata

AT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
PLAN = Plan(
    route=Route.SHADOW,
    attempts=(Attempt("gpt", Tier.CLOUD, Route.SHADOW),),
    thresholds=Thresholds(),
    score=Score(0.5, "prior", "head-1"),
    reasons=("score 5.5 is in the band", "分数在中间"),
    dropped=(Dropped("local", "breaker open"),),
    propensity=0.05,
)


def served(request_id: str = "r1", **changes: Any) -> Served:
    values: dict[str, Any] = {
        "request_id": request_id,
        "at": AT,
        "tenant": "team-a",
        "session": "abc",
        "plan": PLAN,
        "route": Route.SHADOW,
        "tier": Tier.CLOUD,
        "backend": "gpt",
        "model": "gpt-4o",
        "confidence": None,
        "degraded": False,
        "stream": True,
        "overhead_ms": 0.7,
        "first_event_ms": 310.0,
        "latency_ms": 900.0,
        "usage": Usage(12, 34),
        "cost_usd": Decimal("0.000123456"),
        "saved_usd": Decimal(0),
    }
    return Served(**(values | changes))


COMPARED = Compared(
    request_id="r1",
    at=AT,
    task="chat",
    score=PLAN.score,
    propensity=0.05,
    edge_backend="local",
    cloud_backend="gpt",
    edge_version="1d961463",
    scorer_version="head-1",
    edge_digest="a" * 64,
    cloud_digest="b" * 64,
    similarity=0.9,
    agreed=True,
    method="similarity",
    edge_confidence=0.8,
    edge_ms=120.0,
    cloud_ms=900.0,
)
FAILED = {"plan": None, "route": None, "tier": None, "backend": None, "model": None} | {
    "first_event_ms": None,
    "usage": None,
    "cost_usd": None,
    "saved_usd": None,
    "error": "NotServed",
}


def url(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


@asynccontextmanager
async def opened(path: Path, **bounds: Any) -> AsyncIterator[Records]:
    records = await Records.open(url(path), **({"linger_s": 0.0} | bounds))
    try:
        yield records
    finally:
        await records.close()


async def reading(path: Path) -> list[dict[str, Any]]:
    async with opened(path) as records:
        return list(await records.recent())


@pytest.mark.anyio
async def test_a_decision_comes_back_as_it_went_in(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    async with opened(path) as records:
        records.on_event(served())
        records.on_event(ModelLoaded("local", 1.0))
    (row,) = await reading(path)
    assert row["route"] == "shadow"
    assert row["at"] == AT
    assert row["score"] == pytest.approx(5.5)
    assert row["reasons"] == list(PLAN.reasons)
    assert row["dropped"] == [["local", "breaker open"]]
    assert row["cost_usd"] == Decimal("0.000123456")
    assert (row["prompt_tokens"], row["completion_tokens"]) == (12, 34)


@pytest.mark.anyio
async def test_a_request_that_failed_before_its_plan_has_a_row_too(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    async with opened(path) as records:
        records.on_event(served(**FAILED))
    (row,) = await reading(path)
    assert (row["error"], row["route"], row["cost_usd"]) == ("NotServed", None, None)


@pytest.mark.anyio
async def test_a_comparison_comes_back_latest_first(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    async with opened(path) as records:
        records.on_event(served("old"))
        records.on_event(served("new"))
        records.on_event(COMPARED)
    async with opened(path) as records:
        assert [row["request_id"] for row in await records.recent(1)] == ["new"]
        (row,) = await records.comparisons()
    assert (row["agreed"], row["method"], row["edge_digest"]) == (True, "similarity", "a" * 64)


@pytest.mark.anyio
async def test_a_value_too_long_for_its_column_is_clipped(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    async with opened(path) as records:
        records.on_event(served(tenant="团" * 500))
    assert (await reading(path))[0]["tenant"] == "团" * 128


def test_no_column_is_made_for_prompts_or_answers() -> None:
    names = {column.name for table in metadata.tables.values() for column in table.columns}
    assert not names & {"text", "prompt", "answer", "messages", "content", "body"}


@pytest.mark.anyio
async def test_the_file_is_its_owners_and_readers_do_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    async with opened(path) as records:
        records.on_event(served())
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.close()
        assert _modes(tmp_path) == {0o600}


@pytest.mark.anyio
async def test_what_does_not_fit_the_queue_is_dropped_counted_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "h.db"
    with caplog.at_level(logging.ERROR):
        async with opened(path, queue=3) as records:
            for n in range(10):  # no await: the writer cannot run in between
                records.on_event(served(str(n)))
            assert records.dropped == 7
    assert len(await reading(path)) == 3
    assert len(caplog.records) == 1


@pytest.mark.anyio
async def test_a_database_that_refuses_loses_rows_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "h.db"
    with caplog.at_level(logging.ERROR):
        async with opened(path) as records:
            _sql(path, "ALTER TABLE decisions RENAME TO away")
            for n in (1, 2):
                records.on_event(served("lost"))
                await _until(lambda n=n: records.dropped == n)
            _sql(path, "ALTER TABLE away RENAME TO decisions")
            records.on_event(served("kept"))
    assert [row["request_id"] for row in await reading(path)] == ["kept"]
    assert len(caplog.records) == 1


@pytest.mark.anyio
async def test_events_after_closing_are_counted_as_lost(tmp_path: Path) -> None:
    async with opened(tmp_path / "h.db") as records:
        pass
    records.on_event(served())
    assert records.dropped == 1


@pytest.mark.anyio
async def test_closing_writes_everything_that_waits(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    async with opened(path, linger_s=30.0) as records:
        for n in range(1200):
            records.on_event(served(str(n)))
        records._linger_s = 0.0
    assert _sql(path, "SELECT count(*) FROM decisions") == [(1200,)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "address",
    [
        "sqlite+aiosqlite:////nowhere/at/all/h.db",
        "no url",
        "nosuchdb+driver://user:secret@host/db",
        "sqlite:///h.db",
    ],
)
async def test_what_cannot_be_opened_is_a_configuration_error(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"records\.url: cannot open") as refused:
        await Records.open(address)
    assert "secret" not in str(refused.value)


@pytest.mark.anyio
async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    path.write_text("these are notes, not a database\n" * 50)
    with pytest.raises(ConfigError, match="not a database"):
        await Records.open(url(path))


@pytest.mark.anyio
async def test_tables_of_another_release_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "h.db"
    async with opened(path):
        pass
    _sql(path, f"UPDATE schema_version SET version = {VERSION + 1}")
    with pytest.raises(ConfigError, match="a later release"):
        await Records.open(url(path))


def _modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def _sql(path: Path, statement: str) -> list[Any]:
    connection = sqlite3.connect(path, timeout=5)
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


async def _until(condition: Any) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.002)

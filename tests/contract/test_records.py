"""Records and their audit trail: one contract, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from tests.contract.databases import postgresql
from tests.unit.storage.test_records import AT, COMPARED, FAILED, served

from hybridge.core.errors import ConfigError
from hybridge.core.events import Exited
from hybridge.core.request import Clearance
from hybridge.core.trail import Exit
from hybridge.learning.evidence import Evidence, Pair
from hybridge.storage.audit.reader import reading
from hybridge.storage.audit.summary import Wanted
from hybridge.storage.audit.verify import Audit, verify
from hybridge.storage.comparisons import evidence_at
from hybridge.storage.database import open_database
from hybridge.storage.records import Records
from hybridge.storage.schema import VERSION

pytestmark = pytest.mark.anyio
VIEWED = replace(COMPARED, view=bytes(range(256)), head_version="head-1")
KEY = b"a key of enough letters"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgresql() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'h.db'}"
    found: str = request.getfixturevalue("server")
    await sql(found, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return found


async def sql(address: str, *statements: str) -> list[Any]:
    """Runs statements; what the last one finds."""
    engine = create_async_engine(address)
    try:
        async with engine.begin() as connection:
            for statement in statements:
                result = await connection.execute(text(statement))
            return list(result) if result.returns_rows else []
    finally:
        await engine.dispose()


@asynccontextmanager
async def opened(address: str, **options: Any) -> AsyncIterator[Records]:
    records = await Records.open(address, **({"linger_s": 0.0} | options))
    try:
        yield records
    finally:
        await records.close()


async def audited(address: str, *keys: bytes, **wanted: Any) -> Audit:
    async with reading(address) as reader:
        return await verify(reader, Wanted(**wanted), keys=keys)


async def until_written(records: Records) -> None:
    while records._there.is_set():
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("key", [None, KEY], ids=["bare", "keyed"])
async def test_everything_that_happens_is_kept_and_sealed(address, key):
    found = ("EMAIL in messages[0]", "PHONE in tools[1]")
    bound = {"clearance": Clearance.DEVICE_ONLY, "found": found, "backend": "local"}
    async with opened(address, key=key) as records:
        records.on_event(served("free", exits=(Exit("gpt"), Exit("judge", "judge"))))
        records.on_event(served("kept", model="团队\x00 \u2028 'a'", **bound))
        records.on_event(served("failed", **FAILED))
        records.on_event(COMPARED)
        await until_written(records)
        records.on_event(Exited("free", AT, "team-a", Clearance.ANYWHERE, Exit("gpt")))
        assert [row["request_id"] for row in await records.recent()][1:] == ["kept", "free"]
        assert len(await records.comparisons()) == 1
    audit = await audited(address, *([key] if key else []))
    assert (audit.well, audit.problems) == (True, ())
    (chain,) = audit.chains
    assert (chain.head.seq, chain.keyed, chain.closed) == (6, key is not None, True)
    summary = audit.summary
    assert (summary.requests, summary.failed) == (3, 1)
    assert summary.found == {"EMAIL": 1, "PHONE": 1}
    assert summary.private == {"served by local": 1}
    assert {(d.to, d.count) for d in summary.departures()} == {("gpt", 2), ("judge", 1)}
    one = await audited(address, *([key] if key else []), request_id="free")
    assert [entry["entry"] for entry in one.summary.entries] == ["request", "exit"]


async def test_several_writers_have_a_chain_each(address):
    async with opened(address) as one, opened(address) as other, opened(address, key=KEY) as third:
        for n in range(30):
            for name, records in (("a", one), ("b", other), ("c", third)):
                records.on_event(served(f"{name}{n}"))
            await asyncio.sleep(0.002)
        await asyncio.gather(*[until_written(records) for records in (one, other, third)])
        midway = await audited(address, KEY)
        assert sum(chain.closed for chain in midway.chains) == 0
        assert (one.dropped, other.dropped, third.dropped) == (0, 0, 0)
    audit = await audited(address, KEY)
    assert len(audit.chains) == 3
    assert audit.summary.requests == 90
    async with opened(address, key=KEY) as records:  # its opening names how the others ended
        records.on_event(served("d"))
    assert (await audited(address, KEY)).well


async def test_an_audit_beside_a_writing_gateway_is_well(address):
    async with opened(address) as records:
        writing = asyncio.create_task(_write_on(records))
        for _ in range(5):
            await asyncio.sleep(0.03)
            assert (await audited(address)).problems == ()
        writing.cancel()


async def _write_on(records: Records) -> None:
    for n in range(10_000):
        records.on_event(served(str(n)))
        await asyncio.sleep(0.001)


async def test_processes_that_begin_at_once_all_find_the_tables(address):
    engines = await asyncio.gather(*[open_database(address) for _ in range(4)])
    for engine in engines:
        await engine.dispose()
    assert await sql(address, "SELECT version FROM schema_version") == [(VERSION,)]


async def test_an_older_database_is_taken_along(address):
    async with opened(address) as records:
        records.on_event(served("old"))
    await sql(
        address,
        "DROP TABLE audit",
        "DROP TABLE chains",
        "ALTER TABLE decisions DROP COLUMN version",
        "UPDATE schema_version SET version = 1",
    )
    with pytest.raises(ConfigError, match="has no audit trail"):
        await audited(address)
    async with opened(address) as records:
        records.on_event(served("new"))
    audit = await audited(address)
    assert (audit.well, audit.summary.requests) == (True, 1)
    assert await sql(address, "SELECT count(*) FROM decisions") == [(2,)]
    assert await sql(address, "SELECT version FROM schema_version") == [(VERSION,)]


async def test_comparisons_of_before_views_are_kept_and_have_none(address):
    async with opened(address) as records:
        records.on_event(COMPARED)
    await sql(
        address,
        "ALTER TABLE comparisons DROP COLUMN view",
        "ALTER TABLE comparisons DROP COLUMN head_version",
        "UPDATE schema_version SET version = 2",
    )
    with pytest.raises(ConfigError, match="holds no views"):
        await evidence_at(address, 10)
    async with opened(address) as records:
        records.on_event(VIEWED)
    later, earlier = await evidence_at(address, 10)
    assert (later.view, later.head) == (VIEWED.view, "head-1")
    assert (earlier.view, earlier.head) == (None, "")
    assert await sql(address, "SELECT version FROM schema_version") == [(VERSION,)]


async def test_a_comparison_comes_back_as_evidence(address):
    async with opened(address) as records:
        records.on_event(VIEWED)
        records.on_event(replace(VIEWED, request_id="r2", agreed=False, score=None, view=None))
        await until_written(records)
        two, one = await records.evidence(10)
        assert await records.evidence(1) == [two]
    assert one == Evidence(
        Pair("local", "1d961463", "gpt"), AT, "chat", 0.0, 0.05, 0.5, VIEWED.view, "head-1", "r1"
    )
    assert (two.failed, two.p, two.view) == (1.0, None, None)
    assert await evidence_at(address, 10) == [two, one]


async def test_a_later_database_is_refused(address):
    async with opened(address):
        pass
    await sql(address, f"UPDATE schema_version SET version = {VERSION + 1}")
    with pytest.raises(ConfigError, match="a later release"):
        await Records.open(address)


async def test_rows_that_did_not_fit_the_queue_are_told_of(address):
    async with opened(address, queue=3) as records:
        for n in range(10):  # no await: the writer cannot run in between
            records.on_event(served(str(n)))
    audit = await audited(address)
    assert (audit.well, audit.summary.requests, audit.summary.lost) == (True, 3, 7)


async def test_rows_that_a_database_refused_are_told_of_and_the_chain_goes_on(address):
    async with opened(address) as records:
        records.on_event(served("before"))
        await until_written(records)
        await sql(address, "ALTER TABLE decisions RENAME TO away")
        for n in (1, 2):
            records.on_event(served("lost"))
            while records.dropped < n:
                await asyncio.sleep(0.002)
        await sql(address, "ALTER TABLE away RENAME TO decisions")
        records.on_event(COMPARED)  # has no entry in the trail, and must not forget them
        await until_written(records)
        records.on_event(served("after"))
    audit = await audited(address)
    (chain,) = audit.chains
    assert (audit.well, audit.summary.requests, audit.summary.lost) == (True, 2, 2)
    assert chain.head.seq == 5  # opened, before, lost, after, closed


async def test_a_batch_that_was_kept_though_its_commit_failed_is_not_told_as_lost(address):
    async with opened(address) as records:
        records.on_event(served("before"))
        await until_written(records)
        trail = records._trail
        trail.written = lambda: trail.failed(1, "the connection broke")  # after the commit
        records.on_event(served("kept"))
        await until_written(records)
        del trail.written
        records.on_event(served("after"))
    audit = await audited(address)
    assert (audit.well, audit.summary.requests, audit.summary.lost) == (True, 3, 0)


async def test_a_role_that_can_only_add_to_the_trail_is_enough(server):
    await sql(server, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    async with opened(server):
        pass
    await sql(
        server,
        "DROP ROLE IF EXISTS gateway",
        "CREATE ROLE gateway LOGIN",
        "GRANT USAGE ON SCHEMA public TO gateway",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO gateway",
        "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO gateway",
        "REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM gateway",
    )
    restricted = server.replace("hybridge@", "gateway@")
    async with opened(restricted) as records:
        records.on_event(served())
    assert records.dropped == 0
    audit = await audited(restricted)
    assert (audit.well, audit.summary.requests) == (True, 1)
    with pytest.raises(DBAPIError, match="permission denied"):
        await sql(restricted, "UPDATE audit SET entries = ''")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET entries = replace(entries, 'gpt-4o', 'local')",
        "DELETE FROM audit WHERE seq = 2",
        "DELETE FROM audit WHERE seq > 2",
        "UPDATE audit SET seq = seq + 10 WHERE seq > 3",
        "DELETE FROM chains",
        "UPDATE chains SET seq = seq - 1",
    ],
)
async def test_tampering_shows(address, statement):
    async with opened(address) as records:
        for n in range(3):
            records.on_event(served(str(n)))
            await until_written(records)
    assert (await audited(address)).well
    await sql(address, statement)
    assert not (await audited(address)).well

"""Whatever is changed in the audit trail is found, and where (R32). On real SQLite files."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.unit.storage.test_records import AT, opened, served, url

from hybridge.core.errors import ConfigError
from hybridge.core.events import Exited
from hybridge.core.request import Clearance
from hybridge.core.trail import Exit
from hybridge.storage.audit.entries import Head
from hybridge.storage.audit.reader import reading
from hybridge.storage.audit.seal import with_key, without_key
from hybridge.storage.audit.summary import Wanted
from hybridge.storage.audit.verify import Audit, verify

KEY, OTHER = b"k" * 32, b"o" * 32
BATCHES = (3, 1, 4, 2)
patient = settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


async def write(path: Path, batches: tuple[int, ...], key: bytes | None = None) -> None:
    """One chain: its opening, batches of entries, its end."""
    async with opened(path, key=key) as records:
        for size in batches:
            for n in range(size):
                exits = (Exit("gpt"),) if n % 2 else ()
                records.on_event(served(f"r{n}", exits=exits, found=("EMAIL in messages[0]",)))
            while records._there.is_set():  # until the batch is written
                await asyncio.sleep(0.001)


def audited(path: Path, *keys: bytes, expected: list[tuple[str, Head]] | None = None) -> Audit:
    async def run() -> Audit:
        async with reading(url(path)) as reader:
            return await verify(reader, Wanted(), keys=keys, expected=expected or [])

    return asyncio.run(run())


class Database:
    """A copy of one that is well, to be tampered with."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sql = sqlite3.connect(path, isolation_level=None)
        self.rows: list[tuple[str, int, str]] = self(
            "SELECT audit.chain, audit.seq, entries FROM audit JOIN chains USING (chain)"
            " ORDER BY at, audit.chain, audit.seq"
        )
        self.chains = list(dict.fromkeys(row[0] for row in self.rows))

    def __call__(self, statement: str, *values: Any) -> list[Any]:
        return self.sql.execute(statement, values).fetchall()

    def put(self, row: int, lines: list[str]) -> None:
        chain, seq, _ = self.rows[row]
        self("UPDATE audit SET entries=? WHERE chain=? AND seq=?", "\n".join(lines), chain, seq)

    def close(self) -> None:
        self.sql.close()


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three chains, each in several rows."""
    path = tmp_path_factory.mktemp("well") / "h.db"

    async def fill() -> None:
        for _ in range(3):
            await write(path, BATCHES)

    asyncio.run(fill())
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")  # all in one file, to be copied
    connection.close()
    return path


@pytest.fixture
def copy(well: Path, tmp_path: Path) -> Iterator[Callable[[], Database]]:
    made: list[Database] = []

    def fresh() -> Database:
        if made:
            made.pop().close()
        made.append(Database(Path(shutil.copy(well, tmp_path / "h.db"))))
        return made[0]

    yield fresh
    for database in made:
        database.close()


def located(found: Audit, chain: str, seq: int) -> bool:
    """Whether what was done to an entry is told of it, or of the one after it."""
    return any(p.chain == chain and p.seq in (seq, seq + 1) for p in found.problems)


def test_what_nobody_touched_is_well(copy):
    database = copy()
    found = audited(database.path)
    assert (found.well, found.problems) == (True, ())
    assert [c.head.seq for c in found.chains] == [2 + sum(BATCHES)] * 3
    assert all(chain.closed for chain in found.chains)
    assert found.summary.requests == 3 * sum(BATCHES)
    assert len(found.tips) == 1  # the others are named by later ones


@patient
@given(st.data())
def test_a_changed_character_is_found(copy, data):
    database = copy()
    row = data.draw(st.integers(0, len(database.rows) - 1))
    chain, seq, text = database.rows[row]
    at = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.characters(exclude_categories=["Cs"]) | st.sampled_from('0a \n"{'))
    assume(new != text[at])
    database.put(row, [text[:at] + new + text[at + 1 :]])
    found = audited(database.path)
    assert located(found, chain, seq + text.count("\n", 0, at)), found.problems


@patient
@given(st.data())
def test_a_deleted_row_is_found(copy, data):
    database = copy()
    chain, seq, _ = data.draw(st.sampled_from(database.rows))
    database("DELETE FROM audit WHERE chain=? AND seq=?", chain, seq)
    found = audited(database.path)
    assert located(found, chain, seq), found.problems
    assert {problem.chain for problem in found.problems} == {chain}


@patient
@given(st.data())
def test_two_swapped_rows_are_found(copy, data):
    database = copy()
    indices = st.integers(0, len(database.rows) - 1)
    one, other = sorted(data.draw(st.lists(indices, min_size=2, max_size=2, unique=True)))
    for to, source in ((one, other), (other, one)):
        database.put(to, [database.rows[source][2]])
    found = audited(database.path)
    first = {database.rows[row][0]: database.rows[row][1] for row in (other, one)}
    for chain, seq in first.items():
        assert located(found, chain, seq), found.problems


@patient
@given(st.data(), st.sampled_from(["delete", "double", "swap", "insert"]))
def test_entries_moved_within_a_row_are_found(copy, data, how):
    database = copy()
    many = [i for i, row in enumerate(database.rows) if "\n" in row[2]]
    row = data.draw(st.sampled_from(many))
    chain, seq, text = database.rows[row]
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    if how == "delete":
        del lines[at]
    elif how == "double":
        lines.insert(at, lines[at])
    elif how == "swap":
        other = data.draw(st.integers(0, len(lines) - 1).filter(lambda n: n != at))
        at, other = sorted((at, other))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines.insert(at, data.draw(st.sampled_from(database.rows))[2].split("\n")[0])
    database.put(row, lines)
    assert located(audited(database.path), chain, seq + at)


@patient
@given(st.data())
def test_an_inserted_row_is_found(copy, data):
    database = copy()
    _, _, text = data.draw(st.sampled_from(database.rows))
    chain = data.draw(st.sampled_from([*database.chains, "f" * 16]))
    seq = data.draw(st.integers(-2, 2 * sum(BATCHES)))
    assume((chain, seq) not in [row[:2] for row in database.rows])
    database("INSERT INTO audit VALUES (?, ?, ?)", chain, seq, text)
    found = audited(database.path)
    assert any(problem.chain == chain for problem in found.problems)


@patient
@given(st.data())
def test_a_row_with_another_place_is_found(copy, data):
    database = copy()
    chain, seq, _ = data.draw(st.sampled_from(database.rows))
    column, value = data.draw(
        st.tuples(st.just("seq"), st.integers(-(2**40), 2**40) | st.just("x") | st.just(1.5))
        | st.tuples(st.just("chain"), st.sampled_from([*database.chains, "f" * 16, b"\xff"]))
    )
    taken = [(value, seq), (chain, value)]
    assume(not any(row[:2] in taken for row in database.rows))
    database(f"UPDATE audit SET {column}=? WHERE chain=? AND seq=?", value, chain, seq)
    found = audited(database.path)
    assert located(found, chain, seq), found.problems


@patient
@given(st.data())
def test_a_changed_head_is_found(copy, data):
    database = copy()
    chain = data.draw(st.sampled_from(database.chains))
    column, value = data.draw(
        st.tuples(st.just("seq"), st.integers(-5, 50) | st.just("x") | st.just(2.5))
        | st.tuples(st.just("seal"), st.text("0123456789abcdef", min_size=1, max_size=64))
        | st.tuples(st.just("chain"), st.just("f" * 16))
    )
    assume(value != 2 + sum(BATCHES))
    database(f"UPDATE chains SET {column}=? WHERE chain=?", value, chain)
    assert chain in {problem.chain for problem in audited(database.path).problems}


@pytest.mark.parametrize("table", ["chains", "audit"])
def test_a_table_that_was_emptied_is_found(copy, table):
    database = copy()
    database(f"DELETE FROM {table}")
    assert {p.chain for p in audited(database.path).problems} == set(database.chains)


def test_a_chain_that_is_gone_is_named_by_a_later_one(copy):
    database = copy()
    for table in ("audit", "chains"):
        database(f"DELETE FROM {table} WHERE chain=?", database.chains[1])
    (problem,) = audited(database.path).problems
    assert problem.chain == database.chains[1]
    assert f"gone, though the opening of {database.chains[2]} names it" in problem.what


def cut(database: Database, chain: str, after: int) -> None:
    """Takes the end of a chain away, as somebody would who knows of the heads."""
    database("DELETE FROM audit WHERE chain=? AND seq>?", chain, after)
    (last,) = database(
        "SELECT seq, entries FROM audit WHERE chain=? ORDER BY seq DESC LIMIT 1", chain
    )
    seal, seq = last[1].split("\n")[-1].split(" ")[0], last[0] + last[1].count("\n")
    database("UPDATE chains SET seq=?, seal=? WHERE chain=?", seq, seal, chain)


def test_an_end_cut_off_with_its_head_is_found_in_all_but_the_last_chain(copy):
    database = copy()
    cut(database, database.chains[0], 5)
    (problem,) = audited(database.path).problems
    assert problem.chain == database.chains[0]
    assert "names entry" in problem.what


def test_the_last_end_cut_off_with_its_head_is_found_by_a_kept_head_only(copy):
    database = copy()
    kept = [("kept:1", tip) for tip in audited(database.path).tips]
    assert audited(database.path, expected=kept).well
    cut(database, database.chains[2], 5)
    assert audited(database.path).well
    (problem,) = audited(database.path, expected=kept).problems
    assert problem.chain == database.chains[2]
    assert "kept:1 names entry" in problem.what


def forge(database: Database, chain: str, seal: Callable[[str, bytes], str]) -> None:
    """Changes an entry and makes all later seals of its chain anew, and the head."""
    before, seq = "0" * 64, 0
    for _, first, text in [row for row in database.rows if row[0] == chain]:
        lines = []
        for line in text.split("\n"):
            entry = line.partition(" ")[2].replace("gpt", "local").encode()
            before, seq = seal(before, entry), seq + 1
            lines.append(f"{before} {entry.decode()}")
        values = ("\n".join(lines), chain, first)
        database("UPDATE audit SET entries=? WHERE chain=? AND seq=?", *values)
    database("UPDATE chains SET seal=? WHERE chain=?", before, chain)


def test_without_a_key_all_seals_can_be_made_anew_and_a_kept_head_shows_it(copy):
    database = copy()
    kept = [("kept:1", tip) for tip in audited(database.path).tips]
    forge(database, database.chains[2], without_key)
    assert audited(database.path).well
    assert not audited(database.path, expected=kept).well


def test_with_a_key_nobody_else_makes_seals(tmp_path):
    path = tmp_path / "h.db"
    asyncio.run(write(path, BATCHES, KEY))
    assert audited(path, KEY).well
    assert audited(path, OTHER, KEY).well
    with pytest.raises(ConfigError, match="sealed with a key"):
        audited(path)
    assert "another key" in audited(path, OTHER).problems[0].what
    database = Database(path)
    for seal in (without_key, with_key(OTHER)):
        forge(database, database.chains[0], seal)
        assert not audited(path, KEY).well
    database.close()


def test_a_trail_without_a_key_is_not_taken_for_one_that_has(tmp_path):
    path = tmp_path / "h.db"
    asyncio.run(write(path, BATCHES))
    assert audited(path).well
    (problem,) = audited(path, KEY).problems
    assert "sealed without a key" in problem.what
    asyncio.run(write(path, BATCHES, KEY))  # whose opening names the end of the other
    assert audited(path, KEY).well


def test_a_second_key_does_not_make_the_first_chain_worthless(tmp_path):
    path = tmp_path / "h.db"
    asyncio.run(write(path, (2,), OTHER))
    asyncio.run(write(path, (2,), KEY))
    assert audited(path, KEY, OTHER).well
    assert "another key" in audited(path, KEY).problems[0].what


def test_many_signs_are_counted_beyond_the_first_hundred(tmp_path):
    path = tmp_path / "h.db"
    asyncio.run(write(path, (150,)))
    database = Database(path)
    database("UPDATE audit SET entries=replace(entries, 'team-a', 'team-b')")
    (chain,) = audited(path).chains
    assert (len(chain.problems), chain.more) == (100, 50)
    database.close()


def test_private_requests_that_left_are_violations(tmp_path):
    path = tmp_path / "h.db"
    bound, hidden, free = Clearance.DEVICE_ONLY, Clearance.DISGUISED, Clearance.ANYWHERE

    async def fill() -> None:
        async with opened(path) as records:
            for name, clearance, *exits in (
                ("kept", bound),
                ("left", bound, Exit("gpt")),
                ("hidden", hidden, Exit("gpt", disguised=True)),
                ("bare", hidden, Exit("gpt", disguised=True), Exit("other")),
                ("free", free, Exit("gpt")),
            ):
                records.on_event(served(name, clearance=clearance, exits=tuple(exits)))
            late = Exited("late", AT, "team-a", bound, Exit("judge", "judge"))
            records.on_event(late)

    asyncio.run(fill())
    found = audited(path)
    assert not found.problems
    assert not found.well
    names = [(violation.request_id, violation.to) for violation in found.summary.violations]
    assert names == [("left", "gpt"), ("bare", "other"), ("late", "judge")]
    assert found.summary.clearance == {"anywhere": 1, "disguised": 2, "device_only": 2}
    assert sum(row.count for row in found.summary.departures()) == 6

"""`hybridge train` and `hybridge explain --adapter`, as programs call them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from tests.unit.storage.test_records import COMPARED
from typer.testing import CliRunner

from hybridge.cli.app import app
from hybridge.core.errors import ConfigError
from hybridge.core.plan import Score
from hybridge.routing.head import Head, read
from hybridge.routing.view import pack, view
from hybridge.storage.records import Records

THINGS = ("trains", "bridges", "rivers", "engines", "birds", "coins", "clocks", "maps", "roads")
HEAD = Head.shipped()


def prompts(n: int) -> list[tuple[str, bool]]:
    """Questions, and whether the edge is good enough: for the Chinese ones it never is."""
    random, found = Random(3), []
    for number in range(n):
        one, other = random.sample(THINGS, 2)
        if number % 2:
            found.append(
                (f"Tell me in a few words how {one} and {other} are alike, {number}.", True)
            )
        else:
            found.append((f"请用几句话说明{number}号方案里{one}与{other}的区别。", False))
    return found


def written(folder: Path, n: int, **names: str) -> Path:
    path = folder / "own.jsonl"
    rows = [{"prompt": text, "agreed": agreed, **names} for text, agreed in prompts(n)]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, found.stdout


def test_an_adapter_is_written_where_it_is_better_and_moves_scores(tmp_path):
    code, out = run("train", "--records", written(tmp_path, 80), "--json")
    told = json.loads(out)
    assert (code, told["better"], told["comparisons"]) == (0, True, 80)
    assert told["written"] == ["hybridge-adapter.npz"]
    assert set(told["measures"]) == {"log loss", "AUROC", "APGR", "ECE"}
    for figure in told["measures"].values():
        value, low, high = figure["adapter"]
        assert low <= value <= high
    assert told["measures"]["AUROC"]["adapter"][0] > 0.9
    lines = [{"id": i, "prompt": text} for i, (text, _) in enumerate(prompts(6))]
    (tmp_path / "batch.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    batch = ["explain", "--batch", "batch.jsonl", "--json"]
    without, with_it = (
        [json.loads(line) for line in run(*batch, *more)[1].splitlines()]
        for more in ((), ("--adapter", "hybridge-adapter.npz"))
    )
    assert [row["id"] for row in with_it] == list(range(6))
    assert set(with_it[0]) == {"id", "score", "route", "reasons"}
    assert all("(adapter)" in row["reasons"][0] for row in with_it if "score" in row["reasons"][0])
    gaps = [rows[0]["score"] - rows[1]["score"] for rows in (without, with_it)]
    assert gaps[1] > gaps[0] + 1
    code, out = run("explain", prompts(1)[0][0], "--adapter", "hybridge-adapter.npz")
    assert "from a file: in force" in " ".join(out.split())


def test_one_that_is_not_better_is_not_written(tmp_path):
    code, out = run("train", "--records", written(tmp_path, 10), "--json")
    told = json.loads(out)
    assert (code, told["better"], told["written"], told["measures"]) == (1, False, [], {})
    assert told["said"] == "waiting: 10 of 20 comparisons"
    assert not (tmp_path / "hybridge-adapter.npz").exists()
    code, out = run("train", "--records", written(tmp_path, 10))
    assert (code, "nothing is written; waiting: 10 of 20" in " ".join(out.split())) == (1, True)


def test_activating_takes_the_place_that_the_configuration_names(tmp_path):
    own = written(tmp_path, 60)
    code, _ = run("train", "--records", own, "--activate")
    assert code == 2  # the configuration names none
    config = tmp_path / "my.yaml"
    config.write_text("routing: {adapter: in-force.npz}\n")
    code, out = run("train", "--records", own, "--activate", "--config", config)
    assert code == 0
    assert (tmp_path / "in-force.npz").exists()
    assert not (tmp_path / "hybridge-adapter.npz").exists()
    assert "is better than the prior" in " ".join(out.split())
    code, out = run("explain", "Hello there, how are you?", "--config", config)
    assert "in force, of 60 comparisons" in " ".join(out.split())


async def _record(path: Path) -> None:
    records = await Records.open(f"sqlite+aiosqlite:///{path}", linger_s=0.0)
    start = datetime(2030, 1, 1, tzinfo=UTC)
    for number, (text, agreed) in enumerate(prompts(60)):
        said = read(text)
        p = HEAD.judge(said, None).p
        seen = pack(view(HEAD, said, None, p))
        records.on_event(
            replace(
                COMPARED, request_id=f"r{number}", at=start + timedelta(minutes=number),
                agreed=agreed, score=Score(p, "prior-text", HEAD.version), propensity=1.0,
                view=seen, head_version=HEAD.version,
            )
        )  # fmt: skip
    await records.close()


def test_a_gateways_own_records_teach_it_and_explain_knows(tmp_path):
    asyncio.run(_record(tmp_path / "hybridge.db"))
    code, out = run("train", "--json")  # the records of the configuration
    assert (code, json.loads(out)["comparisons"]) == (0, 60)
    code, out = run("train", "--records", "hybridge.db", "--edge", "local", "--out", "b.npz")
    assert (code, (tmp_path / "b.npz").exists()) == (0, True)
    code, out = run("explain", prompts(1)[0][0])
    assert "local and gpt: in force, of 60 comparisons" in " ".join(out.split())
    with pytest.raises(ConfigError, match="no comparisons of these models"):
        run("train", "--records", "hybridge.db", "--edge", "other")


def test_records_of_an_older_release_are_left_alone(tmp_path):
    asyncio.run(_record(tmp_path / "hybridge.db"))
    with sqlite3.connect(tmp_path / "hybridge.db") as database:
        database.execute("ALTER TABLE comparisons DROP COLUMN view")
    code, out = run("explain", "Hello there, how are you?")
    assert (code, "nothing to learn from yet" in out) == (0, True)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot read gone.jsonl"):
        run("train", "--records", "gone.jsonl")
    with pytest.raises(ConfigError, match="nothing has been recorded yet"):
        run("train")
    (tmp_path / "odd.npz").write_bytes(b"odd")
    with pytest.raises(ConfigError, match=r"routing\.adapter: odd\.npz is not an adapter"):
        run("explain", "Hello", "--adapter", "odd.npz")
    with pytest.raises(ConfigError, match=r"routing\.head: odd\.npz is not a scorer head"):
        run("explain", "Hello", "--head", "odd.npz")

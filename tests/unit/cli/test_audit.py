"""`hybridge audit`: what it takes, and how it ends."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.storage.test_records import FAILED, opened, served

from hybridge.cli import main
from hybridge.core.request import Clearance
from hybridge.core.trail import Exit

BOUND = {"clearance": Clearance.DEVICE_ONLY, "backend": "local"}
Run = Callable[..., tuple[int, str, str]]


def fill(**more: object) -> None:
    """Records of three requests of two tenants, one of which failed."""

    async def write() -> None:
        async with opened(Path("hybridge.db")) as records:
            records.on_event(served("free", exits=(Exit("gpt"),), tenant="[b]team"))
            records.on_event(served("kept", found=("EMAIL in messages[0]",), **BOUND))
            records.on_event(served("failed", **FAILED | more))

    asyncio.run(write())


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def ran(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["hybridge", "audit", *arguments])
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        else:
            code = 0
        return code, *capsys.readouterr()

    return ran


def test_the_records_of_this_folder_are_audited(run):
    fill()
    code, out, err = run()
    assert (code, err) == (0, "")
    for line in ("chains 1 with 5 entries", "requests 3, of which 1 failed", "found EMAIL 1"):
        assert line in " ".join(out.split())
    assert "device_only  1: served by local 1" in out
    assert "well: every seal fits, and nothing private left as it was" in out


@pytest.mark.parametrize(
    ("arguments", "requests"),
    [
        ((), 3),
        (("--tenant", "team-a"), 2),
        (("--tenant", "nobody"), 0),
        (("--since", "2030-01-02T03:04:05"), 3),
        (("--since", "2030-01-02T03:04:06+00:00"), 0),
        (("--since", "2w"), 3),
        (("--since", "99999999w"), 3),
        (("--request", "kept"), 1),
    ],
)
def test_what_is_counted_can_be_chosen(run, arguments, requests):
    fill()
    code, out, _ = run("--json", *arguments)
    assert (code, json.loads(out)["requests"]) == (0, requests)


def test_a_request_that_left_ends_with_one_and_is_named(run):
    fill(clearance=Clearance.DEVICE_ONLY, exits=(Exit("gpt"),))
    code, out, _ = run()
    assert code == 1
    assert "left: request failed" in out
    assert "not well: private requests left as they were" in out
    code, out, _ = run("--json")
    assert (code, json.loads(out)["violations"][0]["request_id"]) == (1, "failed")
    assert run("--tenant", "[b]team")[0] == 0


def test_everything_about_one_request(run):
    fill()
    code, out, _ = run("--request", "kept")
    assert (code, '"clearance": "device_only"' in out) == (0, True)
    code, _, err = run("--request", "nobody's")
    assert (code, "no entry about a request nobody's" in err) == (2, True)


def test_a_file_can_be_read_only_and_lies_there_unchanged(run):
    fill()
    file, folder = Path("hybridge.db"), Path()
    before = file.read_bytes()
    file.chmod(0o400)
    folder.chmod(0o500)
    try:
        assert run("--records", str(file.absolute()))[0] == 0
    finally:
        folder.chmod(0o700)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "nothing has been recorded yet"),
        (("--records", "nowhere.db"), "nothing has been recorded yet"),
        (("--records", "notes.txt"), "not a database"),
        (("--records", "nosuchdb://host/db"), "records.url: cannot open"),
        (("--records", "other.db"), "has no audit trail"),
        (("--records", "empty.db"), "the audit trail is empty"),
        (("--config", "off.yaml"), "records.url is null"),
        (("--config", "off.yaml", "--records", "x.db"), "not both"),
        (("--since", "yesterday"), "neither like 24h"),
        (("--expect", "nowhere"), "cannot read nowhere"),
        (("--expect", "notes.txt"), "notes.txt:1 is not"),
        (("--key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY is not set"),
    ],
)
def test_what_cannot_be_audited_ends_with_two(run, arguments, complaint):
    Path("notes.txt").write_text("these are notes, not a database\n" * 50)
    Path("off.yaml").write_text("records: {url: null}\n")
    sqlite3.connect("other.db").executescript(
        "CREATE TABLE t (x); INSERT INTO t VALUES (1)"
    ).close()

    async def empty() -> None:
        async with opened(Path("empty.db")):
            pass

    asyncio.run(empty())
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert complaint in " ".join(err.replace("│", " ").split())

"""`hybridge audit` from end to end: a started gateway, its records, and the command beside it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.integration.running import Pair, running

from hybridge.cli import main
from hybridge.testing.replies import Reply, answers, fails, hangs, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio

VALUES = ("anna.gerber@example.com", "11010519491231002X", "13812345678")
PRIVATE = "请把这封信改得更礼貌：我的邮箱是 anna.gerber@example.com，身份证号11010519491231002X。"
VECTORS = answers(
    {
        "object": "list",
        "model": "v",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}],
        "usage": {"prompt_tokens": 2, "total_tokens": 2},
    }
)


def away(upstream: Upstream) -> str:
    """A URL of an upstream here that names no loopback address, so that it counts as elsewhere."""
    return upstream.base_url.replace("127.0.0.1", "0.0.0.0")


@asynccontextmanager
async def recording(
    folder: Path,
    reply: Reply | None = None,
    edge_at: Callable[[Upstream], str] = lambda edge: edge.base_url,
    **config: Any,
) -> AsyncIterator[Pair]:
    """A gateway that keeps records in `h.db`, between an edge here and a cloud elsewhere."""
    sure = says("Hello from the edge.", logprob=-0.02)
    async with Upstream(sure) as edge, Upstream(reply or says("Hello from the cloud.")) as cloud:
        small = {"name": "e", "engine": "openai", "base_url": edge_at(edge), "model": "small"}
        large = {"name": "c", "base_url": away(cloud), "model": "large"}
        vectors = {"name": "v", "engine": "openai", "base_url": away(cloud), "model": "v"}
        config = {
            "records": {"url": "sqlite+aiosqlite:///h.db"},
            "edge": {"backends": [small]},
            "cloud": {"backends": [large | {"price": {"input_usd": 2.5, "output_usd": 10}}]},
            "embeddings": {"backends": [vectors | {"price": 0.1}]},
        } | config
        async with running(folder, config) as gateway:
            yield Pair(gateway, edge, cloud)


class Audit:
    """The command, run in this process: `main` is what the console script calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    async def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        self._monkeypatch.setattr("sys.argv", ["hybridge", "audit", *arguments])
        self._capsys.readouterr()
        code = await asyncio.to_thread(_ended, main)
        return code, *self._capsys.readouterr()

    async def told(self, *arguments: str) -> Any:
        """What it prints as JSON, and its exit code."""
        code, out, err = await self("--json", *arguments)
        assert out, err
        return json.loads(out) | {"code": code}

    async def until(self, count: int) -> Any:
        """What it says once so many requests are in the records."""
        for _ in range(200):
            if Path("h.db").exists():
                code, out, _ = await self("--json", "--records", "h.db")
                if out and json.loads(out)["requests"] >= count:
                    return json.loads(out) | {"code": code}
            await asyncio.sleep(0.05)
        raise AssertionError(f"never {count} requests")


def _ended(run: Callable[[], None]) -> int:
    try:
        run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@pytest.fixture
def audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Audit:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_PROXY", "*")
    return Audit(monkeypatch, capsys)


async def test_every_kind_of_request_leaves_its_trail(tmp_path, audit):
    async with recording(tmp_path) as p:
        for stream in (False, True):
            await p.gateway.chat(PRIVATE, stream=stream)  # stays
            await p.gateway.chat("Prove that 2 is prime, step by step.", stream=stream)  # leaves
            await p.gateway.chat("Hello!", stream=stream, headers={"x-hybridge-privacy": "high"})
        await p.gateway.chat("Hello!")  # stays by rule
        p.edge.then(fails(500))
        assert (await p.gateway.chat(PRIVATE)).status == 503  # fails rather than leave
        p.edge.then(says("Hello from the edge.", logprob=-0.02))
        p.cloud.then(hangs())
        asking = asyncio.create_task(p.gateway.chat("Prove that 3 is prime, step by step."))
        before = len(p.cloud.posts)
        while len(p.cloud.posts) == before:
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait({asking})
        found = await audit.until(9)  # while the gateway writes
        assert (found["code"], found["well"]) == (0, True)
        assert [chain["closed"] for chain in found["chains"]] == [False]
        assert found["clearance"] == {"anywhere": 4, "disguised": 0, "device_only": 5}
        assert found["found"] == {"EMAIL": 3, "CN_ID": 3}
        assert found["device_only"]["served by e"] == 4
        assert sum(found["device_only"].values()) == 5
        assert found["failed"] == 2
        assert {(row["to"], row["disguised"]) for row in found["exits"]} == {("c", False)}
        assert sum(row["count"] for row in found["exits"]) >= 3
    for file in tmp_path.glob("h.db*"):
        held = file.read_bytes()
        assert not [value for value in VALUES if value.encode() in held]
    found = await audit.told("--records", "h.db")
    assert [chain["closed"] for chain in found["chains"]] == [True]


async def test_embeddings_leave_their_trail_too(tmp_path, audit):
    async with recording(tmp_path, VECTORS) as p:
        for text in ("the sea", f"write to {VALUES[0]}"):
            body = json.dumps({"model": "v", "input": text}).encode()
            kind = {"content-type": "application/json"}
            await p.gateway.http.post(f"{p.gateway.url}/v1/embeddings", kind, body)
        assert len(p.cloud.posts) == 1
        found = await audit.until(2)
    assert (found["code"], found["failed"]) == (0, 1)
    assert found["clearance"] == {"anywhere": 1, "disguised": 0, "device_only": 1}
    assert found["exits"] == [{"to": "v", "kind": "embedder", "disguised": False, "count": 1}]
    assert VALUES[0].encode() not in (tmp_path / "h.db").read_bytes()


async def test_a_comparison_after_the_end_is_in_the_trail(tmp_path, audit):
    """The second waits for the first, whose edge answers when it likes."""
    config = {"learning": {"shadow_timeout_s": 0.5}, "routing": {"edge_max": 0, "cloud_min": 11}}
    async with recording(tmp_path, edge_at=away, **config) as p:
        p.edge.then(hangs(), says("Late."))
        await p.gateway.chat("What causes the tides?")
        answer = await p.gateway.chat("What causes the seasons on Earth?")
        assert answer.text == "Hello from the cloud."
        while len(p.edge.posts) < 2:
            await asyncio.sleep(0.01)
    named = ("--request", answer.headers["x-hybridge-request-id"])
    found = await audit.told("--records", "h.db", *named)
    assert (found["code"], found["requests"]) == (0, 1)
    assert {(row["to"], row["count"]) for row in found["exits"]} == {("c", 1), ("e", 1)}
    assert [entry["entry"] for entry in found["entries"]] == ["request", "exit"]


async def test_a_key_seals_it_and_a_restart_begins_a_new_chain(tmp_path, audit, monkeypatch):
    records = {"url": "sqlite+aiosqlite:///h.db", "audit_key_env": "SEALING"}
    config = {"records": records, "edge": {"backends": []}}
    monkeypatch.setenv("SEALING", "0123456789abcdef")
    for _ in range(2):
        async with running(tmp_path, config) as gateway:
            await gateway.chat("Hello!")
    found = await audit.told()  # by ./hybridge.yaml
    assert (found["code"], found["requests"]) == (0, 2)
    assert [chain["keyed"] for chain in found["chains"]] == [True, True]
    code, out, err = await audit("--records", "h.db")
    assert (code, out) == (2, "")
    assert "sealed with a key: name its variable with --key-env" in err
    assert (await audit("--records", "h.db", "--key-env", "SEALING"))[0] == 0
    code, out, _ = await audit("--head")
    Path("kept").write_text(f"# kept\n\n{out}")
    assert (code, len(out.splitlines())) == (0, 1)
    assert (await audit("--expect", "kept"))[0] == 0
    with sqlite3.connect("h.db") as connection:
        connection.execute("DELETE FROM audit WHERE seq = 2")
    connection.close()
    code, out, _ = await audit()
    assert code == 1
    assert out.count("tampered with: chain ") == 2
    assert "not well: the audit trail was tampered with" in out
    code, out, err = await audit("--head")
    assert (code, out) == (1, "")
    assert "tampered with: chain " in err

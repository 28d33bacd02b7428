"""R73: the configuration changes under a gateway that serves, and only what should change does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from hybridge.testing.replies import fails, says, slowly
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio

LONG = says(" ".join(["word"] * 30))
PATIENCE_S = 30.0
RULES = {
    "version": 1,
    "rules": [
        {
            "name": "all-of-it",
            "when": {"tokens_below": 100000},
            "route": "cloud",
            "why": "the operator says so",
        }
    ],
}


@dataclass
class Scene:
    """A gateway between two upstreams, and the file that it runs by."""

    pair: Any
    path: Path
    log: Path

    @property
    def config(self) -> dict[str, Any]:
        return yaml.safe_load(self.path.read_text())

    def write(self, text: str) -> None:
        """As an editor does: a new file takes the old one's place."""
        beside = self.path.with_suffix(".tmp")
        beside.write_text(text)
        beside.replace(self.path)

    def edit(self, change: Callable[[dict[str, Any]], None]) -> None:
        config = self.config
        change(config)
        self.write(yaml.safe_dump(config))

    async def account(self) -> dict[str, Any]:
        """What `/healthz` says of the configuration."""
        return (await self.pair.gateway.get("/healthz")).json["config"]

    async def backends(self) -> dict[str, dict[str, Any]]:
        rows = (await self.pair.gateway.get("/healthz")).json["backends"]
        return {row["name"]: row for row in rows}

    async def reloaded(self, since: dict[str, Any]) -> dict[str, Any]:
        return await self.comes(lambda now: now["loaded_at"] != since["loaded_at"])

    async def refused(self, with_words: str) -> dict[str, Any]:
        return await self.comes(
            lambda now: with_words in ((now["last_error"] or {}).get("message") or "")
        )

    async def comes(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE_S):
            while not wanted(now := await self.account()):
                await asyncio.sleep(0.05)
        return now

    def lines(self, word: str) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if word in line]


Play = Callable[..., AbstractAsyncContextManager[Scene]]


@pytest.fixture
def play(pair, tmp_path) -> Play:
    @asynccontextmanager
    async def playing(**config: Any) -> AsyncIterator[Scene]:
        async with pair(**config) as p:
            yield Scene(p, tmp_path / "hybridge.yaml", tmp_path / "gateway.log")

    return playing


@dataclass
class Load:
    """Requests of every kind, one after the other, until it is told to stop."""

    scene: Scene
    served: int = 0
    failed: list[Any] = field(default_factory=list)
    over: bool = False

    async def run(self) -> None:
        kinds = [(m, s) for m in ("auto", "e", "c") for s in (False, True)]
        while not self.over:
            for model, stream in kinds:
                await self._ask(model, stream=stream)

    async def _ask(self, model: str, *, stream: bool) -> None:
        answer = await self.scene.pair.gateway.chat("Hello!", stream=stream, model=model)
        whole = answer.status == 200 and (not stream or answer.raw.endswith(b"data: [DONE]\n\n"))
        if whole:
            self.served += 1
        else:
            self.failed.append((model, stream, answer.raw))


@asynccontextmanager
async def under_load(scene: Scene) -> AsyncIterator[None]:
    loads = [Load(scene) for _ in range(2)]
    tasks = [asyncio.create_task(load.run()) for load in loads]
    try:
        yield
    finally:
        for load in loads:
            load.over = True
        await asyncio.gather(*tasks)
    assert not [failure for load in loads for failure in load.failed]
    assert all(load.served for load in loads)


async def test_no_bad_edit_fails_a_request(play):
    async with play() as scene, under_load(scene):
        good, text = await scene.account(), scene.path.read_text()
        local = {"name": "l", "model": "nowhere/weights.gguf"}
        bad = {
            "hybridge.yaml:2:5: ": "server: {port: 1\nedge: x\n",
            "routing.edge_mx: unknown key": text + "routing: {edge_mx: 1}\n",
            "variable NO_SUCH_VARIABLE is not set": text
            + "cache: {ttl_s: '${NO_SUCH_VARIABLE}'}\n",
            "no_such_rules.json": text + "routing: {rules: no_such_rules.json}\n",
            "l: could not be loaded": text.replace(
                "edge:\n  backends:\n", f"edge:\n  backends:\n  - {json.dumps(local)}\n"
            ),
        }
        for words, broken in bad.items():
            scene.write(broken)
            now = await scene.refused(words)
            assert (now["version"], now["loaded_at"]) == (good["version"], good["loaded_at"])
            assert len(scene.lines(words)) == 1
        scene.write(text + "routing: {edge_max: 5}\n")
        now = await scene.reloaded(good)
        assert now["last_error"] is None
        assert now["version"] != good["version"]
        assert scene.lines("reloaded (1): routing.edge_max 4 -> 5")


async def test_good_edits_fail_no_request_either(play):
    async with play() as scene, under_load(scene):
        for edge_max in (5, 6, 3):
            before = await scene.account()
            scene.edit(lambda config, n=edge_max: config.update(routing={"edge_max": n}))
            await scene.reloaded(before)
        before = await scene.account()
        scene.edit(lambda config: config["cloud"]["backends"][0].update(timeouts={"connect_s": 4}))
        await scene.reloaded(before)


async def test_a_stream_outlives_its_backend(play):
    async with play() as scene:
        scene.pair.cloud.then(slowly(LONG, between_s=0.1))
        streaming = asyncio.create_task(scene.pair.gateway.chat("Hello!", stream=True, model="c"))
        async with asyncio.timeout(PATIENCE_S):
            while not scene.pair.cloud.posts:
                await asyncio.sleep(0.02)
        before = await scene.account()
        scene.edit(lambda config: config.pop("cloud"))
        await scene.reloaded(before)
        assert not streaming.done(), "the stream ended before the edit was in force"
        assert (await scene.pair.gateway.chat("Hello!", model="c")).status == 404
        answer = await streaming
        assert answer.raw.endswith(b"data: [DONE]\n\n")
        assert answer.text.split() == ["word"] * 30
        assert scene.lines("reloaded (1): cloud.backends c removed")
        async with asyncio.timeout(PATIENCE_S):
            while _is_connected_to(scene.pair.cloud):
                await asyncio.sleep(0.05)


def _is_connected_to(upstream: Upstream) -> bool:
    """Whether anybody holds a connection to it (Linux; elsewhere nobody can tell so simply)."""
    port, table = urlsplit(upstream.base_url).port or 0, Path("/proc/net/tcp")
    lines = table.read_text().splitlines()[1:] if table.exists() else []
    established = [line.split()[2] for line in lines if line.split()[3] == "01"]
    return any(remote.endswith(f":{port:04X}") for remote in established)


async def test_many_edits_at_once_are_one_reload(play):
    async with play() as scene:
        before = await scene.account()
        for number in range(20):
            scene.edit(
                lambda config, n=number: config.update(execution={"breaker_failures": n + 1})
            )
            await asyncio.sleep(0.03)
        await scene.comes(lambda now: now["loaded_at"] != before["loaded_at"])
        assert scene.lines("execution.breaker_failures 3 -> 20")
        assert len(scene.lines("reloaded (")) == 1


async def test_a_file_is_read_when_it_is_written_whole(play):
    async with play() as scene:
        before = await scene.account()
        text = scene.path.read_text() + "routing: {edge_max: 5}\ncache: {ttl_s: 5"
        with scene.path.open("w") as file:
            for piece in (text[:-40], text[-40:], "}\n"):
                file.write(piece)
                file.flush()
                await asyncio.sleep(0.15)
        await scene.reloaded(before)
        assert not scene.lines("not reloaded")
        assert len(scene.lines("reloaded (")) == 1


async def test_what_a_breaker_found_out_stays(play):
    async with play(execution={"breaker_open_s": 600}) as scene:
        scene.pair.cloud.then(fails(500))
        for _ in range(3):
            await scene.pair.gateway.chat("Hello!", model="c")
        assert "breaker open" in (await scene.backends())["c"]["reason"]
        before = await scene.account()
        scene.edit(lambda config: config.update(routing={"edge_max": 5}, learning={"alpha": 0.2}))
        await scene.reloaded(before)
        assert "breaker open" in (await scene.backends())["c"]["reason"]
        before = await scene.account()
        scene.edit(lambda config: config["cloud"]["backends"][0].update(model="larger"))
        await scene.reloaded(before)
        assert (await scene.backends())["c"]["available"], "another model begins anew"


async def test_keys_and_answers_change_live_and_addresses_do_not(play, monkeypatch):
    monkeypatch.setenv("FIRST_KEY", "key-number-one")
    monkeypatch.setenv("SECOND_KEY", "key-number-two")
    rows = [{"name": "team", "key_env": "FIRST_KEY"}]
    async with play(server={"api_keys": rows}) as scene:
        chat = scene.pair.gateway.chat
        first = {"authorization": "Bearer key-number-one"}
        second = {"authorization": "Bearer key-number-two"}
        assert "hybridge" in (await chat("Hello!", headers=first)).json
        before = await scene.account()
        scene.edit(
            lambda config: config["server"].update(
                api_keys=[{"name": "team", "key_env": "SECOND_KEY"}],
                report_in_body=False,
                port=1,
            )
        )
        now = await scene.reloaded(before)
        assert now["restart_needed"] == ["server.port"]
        assert (await chat("Hello!", headers=first)).status == 401
        answer = await chat("Hello!", headers=second)
        assert (answer.status, "hybridge" in answer.json) == (200, False)
        assert scene.lines("after a restart only: server.port")
        assert not scene.lines("key-number")
        before = now
        scene.edit(lambda config: config["server"].update(port=0))
        assert (await scene.reloaded(before))["restart_needed"] == []


async def test_the_file_of_rules_is_watched_too(play):
    async with play() as scene:
        rules = scene.path.with_name("routing_rules.json")
        rules.write_text(json.dumps(RULES))
        before = await scene.account()
        scene.edit(lambda config: config.update(routing={"rules": rules.name}))
        before = await scene.reloaded(before)
        answer = await scene.pair.gateway.chat("Hello!")
        assert "all-of-it" in " ".join(answer.account["reasons"])
        rules.write_text("{")
        assert (await scene.refused("routing_rules.json"))["version"] == before["version"]
        rules.write_text(json.dumps(RULES | {"rules": [RULES["rules"][0] | {"name": "all"}]}))
        now = await scene.reloaded(before)
        assert (now["last_error"], now["version"] != before["version"]) == (None, True)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no such signal")
async def test_sighup_reloads(play):
    async with play() as scene:
        before = await scene.account()
        os.kill(scene.pair.gateway.process.pid, signal.SIGHUP)
        now = await scene.reloaded(before)
        assert now["version"] == before["version"]
        assert scene.lines("reloaded (0): nothing changed")

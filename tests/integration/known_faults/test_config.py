"""The file changes while streams run: none of them notices, and a bad edit changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.integration.known_faults.common import WAIT_S, chat, port_of
from tests.integration.known_faults.readings import total
from tests.integration.known_faults.scenes import between_these
from tests.integration.running import Pair

from hybridge.testing.http import ask
from hybridge.testing.replies import fails, says, slowly

pytestmark = [pytest.mark.anyio, pytest.mark.fault("B48")]

WORDS = 40
LONG = slowly(says(" ".join(["word"] * WORDS)), between_s=0.05)
SURFACES = {
    "/v1/chat/completions": ({}, b"[DONE]"),
    "/v1/messages": ({"max_tokens": 100}, b"message_stop"),
    "/v1/responses": ({"input": "Hello!"}, b"response.completed"),
}


@dataclass
class Edited:
    """A gateway and the file that it runs by."""

    pair: Pair
    path: Path
    cut: list[bytes] = field(default_factory=list)
    """Answers that did not come whole."""
    whole: int = 0

    def change(self, change: Callable[[dict[str, Any]], None]) -> None:
        config = yaml.safe_load(self.path.read_text())
        change(config)
        self.write(yaml.safe_dump(config))

    def write(self, text: str) -> None:
        beside = self.path.with_suffix(".new")
        beside.write_text(text)
        beside.replace(self.path)

    async def account(self) -> dict[str, Any]:
        return (await self.pair.gateway.get("/healthz")).json["config"]

    async def comes(self, wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        async with asyncio.timeout(WAIT_S):
            while not wanted(now := await self.account()):
                await asyncio.sleep(0.05)
        return now

    @asynccontextmanager
    async def streaming(self) -> AsyncIterator[None]:
        """Streams on every surface, from both tiers, one after the other."""
        over = asyncio.Event()
        kinds = [(path, model) for path in SURFACES for model in ("e", "c")]
        tasks = [asyncio.create_task(self._streams(*kind, over)) for kind in kinds]
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(*tasks)
        assert self.cut == []
        assert self.whole >= len(kinds)

    async def _streams(self, path: str, model: str, over: asyncio.Event) -> None:
        more, end = SURFACES[path]
        body = {**chat(model=model, stream=True), **more}
        if "input" in more:
            del body["messages"]
        while not over.is_set():
            got = await ask(port_of(self.pair.gateway), path, body)
            if got.status == 200 and end in got.body and b'"error":{' not in got.body:
                self.whole += 1
            else:
                self.cut.append(got.body)


@pytest.fixture
async def edited(tmp_path) -> AsyncIterator[Edited]:
    async with between_these(tmp_path, budget={"daily_usd": 1}) as pair:
        for upstream in (pair.edge, pair.cloud):
            upstream.then(LONG)
        yield Edited(pair, tmp_path / "hybridge.yaml")


async def test_no_edit_cuts_a_stream_and_only_good_ones_are_taken_over(edited):
    good, text = await edited.account(), edited.path.read_text()
    missing = "- {name: local, engine: llamacpp, model: /nowhere/weights.gguf}"
    async with edited.streaming():
        for words, broken in {
            "hybridge.yaml:2:1": "edge: [unclosed\n",
            "unknown key": text + "no_such_section: 1\n",
            "/nowhere/weights.gguf": text.replace(
                "edge:\n  backends:\n", f"edge:\n  backends:\n  {missing}\n"
            ),
        }.items():
            edited.write(broken)
            now = await edited.comes(
                lambda now, w=words: w in ((now["last_error"] or {}).get("message") or "")
            )
            assert (now["version"], now["loaded_at"]) == (good["version"], good["loaded_at"])
        half = text + "routing: {edge_max: 5}\ncache: {ttl_s: 60"
        with edited.path.open("w") as file:
            for piece in (half[: len(half) // 2], half[len(half) // 2 :], "}\n"):
                file.write(piece)
                file.flush()
                await asyncio.sleep(0.2)
        now = await edited.comes(lambda now: now["version"] != good["version"])
        assert now["last_error"] is None
        before = now
        for number in range(20):
            edited.change(lambda c, n=number: c.update(execution={"breaker_failures": n + 5}))
            await asyncio.sleep(0.05)
        now = await edited.comes(lambda now: now["version"] != before["version"])
    await edited.comes(lambda now: now["last_error"] is None)
    assert (await edited.pair.gateway.get("/readyz")).status == 200


@pytest.mark.parametrize("path", SURFACES)
async def test_a_stream_outlives_its_backend_and_new_requests_do_not_find_it(edited, path):
    more, end = SURFACES[path]
    body = {**chat(model="c", stream=True), **more}
    if "input" in more:
        del body["messages"]
    streaming = asyncio.create_task(ask(port_of(edited.pair.gateway), path, body))
    async with asyncio.timeout(WAIT_S):
        while not edited.pair.cloud.posts:
            await asyncio.sleep(0.02)
    before = await edited.account()
    edited.change(lambda config: config.pop("cloud"))
    await edited.comes(lambda now: now["version"] != before["version"])
    assert (await ask(port_of(edited.pair.gateway), body=chat(model="c"))).status == 404
    got = await streaming
    assert got.status == 200
    assert end in got.body
    assert got.body.count(b"word") >= WORDS


async def test_money_and_breakers_outlive_an_edit(edited):
    spent = {"name": "hybridge_budget_spent_usd", "period": "daily", "key": "*"}
    pair = edited.pair
    pair.cloud.then(says("one two three"), fails(500))
    assert (await ask(port_of(pair.gateway), body=chat(model="c"))).status == 200
    for _ in range(3):
        await ask(port_of(pair.gateway), body=chat(model="c"))
    assert (await ask(port_of(pair.gateway), body=chat(model="c"))).status == 503
    paid, before = await total(pair.gateway, **spent), await edited.account()
    assert paid > 0
    edited.change(lambda config: config.update(routing={"edge_max": 5}, budget={"daily_usd": 2}))
    await edited.comes(lambda now: now["version"] != before["version"])
    assert await total(pair.gateway, **spent) == paid
    assert (await ask(port_of(pair.gateway), body=chat(model="c"))).status == 503

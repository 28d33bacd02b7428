"""Versions of a local model in a running gateway, under steady load: real weights, real files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.extras import needed
from tests.s3_server import s3_server
from tests.unit.wiring.scene import request, until

from hybridge.core.events import GatewayEvent, ModelSwitched, Served
from hybridge.core.wire import parse
from hybridge.modelstore.versions import Versions
from hybridge.settings import parse as parse_settings
from hybridge.testing.weights import tiny_gguf
from hybridge.wiring import House, model_library, open_house

pytestmark = pytest.mark.anyio
LOAD_PER_S = 25


@dataclass
class Seen:
    """What the clients of one backend saw: when each began, when it ended, and who answered."""

    answers: list[tuple[float, float, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def stale(self) -> list[tuple[float, float, str]]:
        """Answers of a version that was no longer in force when they were asked for: another one
        had answered already, and it never came back."""
        first = {}
        for _, ended, version in sorted(self.answers, key=lambda one: one[1]):
            first.setdefault(version, ended)
        order = sorted(first, key=lambda version: first[version])
        return [
            one
            for one in self.answers
            for later in order[order.index(one[2]) + 1 :]
            if one[0] > first[later]
        ]


class Stage:
    """A gateway with one local model whose versions lie in a folder."""

    def __init__(self, house: House, store: Versions, folder: Path) -> None:
        self.house = house
        self.store = store
        self.folder = folder
        self.events: list[GatewayEvent] = []
        house._lasting.events.subscribe(self.events.append)

    def push(self, seed: int, *, mute: bool = False) -> str:
        return push(self.store, self.folder, seed, mute=mute)

    def corrupt(self, version: str) -> None:
        path = (
            self.folder / "models" / "store" / "m" / "versions" / version / "files" / "model.gguf"
        )
        raw = bytearray(path.read_bytes())
        raw[-40] ^= 1
        path.write_bytes(raw)

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(e.outcome, e.version) for e in self.events if isinstance(e, ModelSwitched)]

    async def ask(self, model: str = "local") -> str:
        """The version that answers."""
        asked = request(model, "Hello!", max_tokens=2)
        async with self.house.gateway.serve(asked) as reply:
            (event,) = [event async for event in reply.events]
        return parse(event.wire)["system_fingerprint"]

    @asynccontextmanager
    async def loaded(self) -> AsyncIterator[Seen]:
        """Requests at a steady pace as long as the block."""
        seen, clock, running = Seen(), self.house.clock, set[asyncio.Task[None]]()

        async def one() -> None:
            begun = clock.monotonic()
            try:
                version = await self.ask()
            except Exception as error:
                seen.errors.append(repr(error))
            else:
                seen.answers.append((begun, clock.monotonic(), version))

        async def steadily() -> None:
            while True:
                running.add(task := asyncio.create_task(one()))
                task.add_done_callback(running.discard)
                await asyncio.sleep(1 / LOAD_PER_S)

        load = asyncio.create_task(steadily())
        try:
            yield seen
        finally:
            load.cancel()
            await asyncio.gather(*running)


def push(store: Versions, folder: Path, seed: int, *, mute: bool = False) -> str:
    source = folder / "w.gguf"
    return store.push("m", tiny_gguf(source, seed, mute=mute)).version


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    @asynccontextmanager
    async def opened(sections: dict[str, Any] | None = None, **models: Any) -> AsyncIterator[Stage]:
        row = {"name": "local", "model": "m", "context_tokens": 256, "queue": 64}
        data = {
            "edge": {"backends": [row]},
            "records": {"url": None},
            "models": {"dir": str(tmp_path / "models"), "poll_s": 0.5, **models},
            **(sections or {}),
        }
        settings = parse_settings(data, {})
        store = model_library(settings).store
        store.activate("m", push(store, tmp_path, 1))
        async with open_house(settings) as house:
            await house.loaded()
            yield Stage(house, store, tmp_path)

    return opened


async def test_activating_and_rolling_back_lose_nothing_and_leave_nothing_stale(stage) -> None:
    async with stage() as scene:
        first = await scene.ask()
        second = scene.push(2)
        async with scene.loaded() as seen:
            await until(lambda: len(seen.answers) > 5)
            scene.store.activate("m", second)
            await until(lambda: ("activated", second) in scene.outcomes)
            await until(lambda: [one[2] for one in seen.answers].count(second) > 5)
        assert (seen.errors, seen.stale()) == ([], [])
        async with scene.loaded() as seen:
            scene.store.roll_back("m")
            await until(lambda: ("rolled_back", first) in scene.outcomes)
            await until(lambda: [one[2] for one in seen.answers].count(first) > 5)
        assert (seen.errors, seen.stale()) == ([], [])
        versions = {e.version for e in scene.events if isinstance(e, Served)}
        assert versions == {first, second}  # records know who answered


async def test_what_cannot_serve_is_refused_and_rolled_back_while_others_answer(stage) -> None:
    async with stage() as scene:
        first = await scene.ask()
        corrupt, mute = scene.push(2), scene.push(3, mute=True)
        scene.corrupt(corrupt)
        async with scene.loaded() as seen:
            for version, why in ((corrupt, "SHA-256"), (mute, "said nothing")):
                scene.store.activate("m", version)
                await until(lambda: scene.store.pointer("m").active == first)
                assert ("refused", version) in scene.outcomes
                last = scene.store.history("m")[-1]
                assert (last.what, last.version, last.by) == ("rolled back", first, "gateway")
                assert why in last.reason
        assert seen.errors == []
        assert {version for _, _, version in seen.answers} == {first}


async def test_no_answer_of_a_version_that_was_replaced_is_given_again(stage) -> None:
    sections = {"cache": {}, "routing": {"edge_max": 9, "cloud_min": 10, "confidence_min": 0.0}}
    async with stage(sections) as scene:
        first = await scene.ask("auto")
        assert await scene.ask("auto") == first
        served = [event for event in scene.events if isinstance(event, Served)]
        assert [event.route for event in served][1:] == ["cache"]
        second = scene.push(2)
        scene.store.activate("m", second)
        await until(lambda: ("activated", second) in scene.outcomes)
        assert [await scene.ask("auto") for _ in range(2)] == [second, second]


async def test_a_canary_gets_its_share_and_is_promoted(stage) -> None:
    async with stage(trial={"answers": 8}) as scene:
        first, second = await scene.ask(), scene.push(2)
        async with scene.loaded() as seen:
            scene.store.activate("m", second, share=0.4)
            await until(lambda: ("on_trial", second) in scene.outcomes)
            await until(lambda: ("promoted", second) in scene.outcomes)
            count = len(seen.answers)
            await until(lambda: len(seen.answers) > count + 5)
        assert seen.errors == []
        assert {version for _, _, version in seen.answers} == {first, second}
        assert seen.answers[-1][2] == second
        pointer = scene.store.pointer("m")
        assert (pointer.active, pointer.trial) == (second, None)
        last = scene.store.history("m")[-1]
        assert (last.what, last.by, last.reason) == (
            "promoted",
            "gateway",
            "0 of its first 8 answers failed",
        )


async def test_a_version_that_cannot_be_loaded_at_the_start_is_rolled_back(tmp_path: Path) -> None:
    data = {
        "edge": {"backends": [{"name": "local", "model": "m", "context_tokens": 256}]},
        "records": {"url": None},
        "models": {"dir": str(tmp_path / "models")},
    }
    settings = parse_settings(data, {})
    store = model_library(settings).store
    good, mute = push(store, tmp_path, 1), push(store, tmp_path, 2, mute=True)
    store.activate("m", good)
    store.activate("m", mute)
    async with open_house(settings) as house:
        await house.loaded()
        assert await Stage(house, store, tmp_path).ask() == good
    assert store.pointer("m").active == good


async def test_versions_come_out_of_a_bucket_and_stay_when_it_is_gone(tmp_path: Path) -> None:
    needed("obstore", "s3")
    environ = {"KEY": "test", "SECRET": "test"}
    with s3_server(tmp_path) as server:
        bucket = server.bucket("models")
        data = {
            "edge": {"backends": [{"name": "local", "model": "m", "context_tokens": 256}]},
            "records": {"url": None},
            "models": {
                "dir": str(tmp_path / "models"),
                "store": bucket.address,
                "poll_s": 0.2,
                "connect_timeout_s": 1,
                "s3": {
                    "endpoint": server.endpoint,
                    "region": "us-east-1",
                    "access_key_env": "KEY",
                    "secret_key_env": "SECRET",
                },
            },
        }
        settings = parse_settings(data, environ)
        store = model_library(settings).store
        first = push(store, tmp_path, 1)
        store.activate("m", first)
        async with open_house(settings) as house:
            await house.loaded()
            scene = Stage(house, store, tmp_path)
            second, corrupt = scene.push(2), scene.push(3)
            store.activate("m", second)
            await until(lambda: ("activated", second) in scene.outcomes)
            assert await scene.ask() == second
            key = f"m/versions/{corrupt}/files/model.gguf"
            sizes = {entry.key: entry.size_bytes for entry in store.place.entries("")}
            store.place.write(key, b"\0" * sizes[key])
            store.activate("m", corrupt)
            await until(lambda: ("refused", corrupt) in scene.outcomes)
            await until(lambda: store.pointer("m").active == second)
            assert "SHA-256" in store.history("m")[-1].reason
            server.stop()
            await asyncio.sleep(0.5)
            assert await scene.ask() == second
    async with open_house(settings) as house:
        await house.loaded()
        assert await Stage(house, store, tmp_path).ask() == second

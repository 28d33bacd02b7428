"""What a user meets while a local model is on its way: served elsewhere, or waited for."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.wiring.scene import request, until

from hybridge.core.errors import ModelError, NotServed
from hybridge.core.request import Clearance, Wish

pytestmark = pytest.mark.anyio


class Gate:
    """Holds models up until it is opened."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.asked: list[str] = []

    async def __call__(self, model: str) -> None:
        self.asked.append(model)
        await self.open.wait()


def _row(scene, name: str):
    return {b.name: b for b in scene.house.gateway.status().backends}[name]


async def test_the_cloud_serves_while_the_model_loads(play):
    gate = Gate()
    async with play(prepare=gate, local=True, edge=False) as scene:
        await until(lambda: gate.asked)
        status = scene.house.gateway.status()
        assert status.ready
        assert (_row(scene, "local").available, _row(scene, "local").reason) == (False, "loading")
        assert await scene.ask() == "from the cloud"
        assert await scene.ask(prompt="你好") == "from the cloud"
        gate.open.set()


async def test_nobody_is_ready_while_everybody_loads(play):
    async with play(prepare=Gate(), local=True, edge=False, cloud=False) as scene:
        status = scene.house.gateway.status()
        assert (status.ready, status.reason) == (False, "loading local")


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("local", {}),
        ("auto", {"clearance": Clearance.DEVICE_ONLY}),
        ("auto", {"wish": Wish(private=True)}),
    ],
)
async def test_what_must_stay_here_is_waited_for(play, model, fields):
    gate = Gate()
    async with play(prepare=gate, local=True, edge=False) as scene:
        waiting = asyncio.create_task(scene.ask(model, **fields))
        await until(lambda: gate.asked)
        await asyncio.sleep(0.05)
        assert not waiting.done()
        gate.open.set()
        with pytest.raises(Exception, match="weights.gguf"):  # it came, and could not be loaded
            await waiting
        assert not scene.cloud.posts


async def test_waiting_ends_at_the_deadline(play):
    sections = {"execution": {"deadline_s": 0.3}}
    async with play(prepare=Gate(), local=True, edge=False, cloud=False, **sections) as scene:
        with pytest.raises(Exception, match="loading") as caught:
            await scene.ask("local")
        assert caught.value.retry_after_s > 0


async def test_a_model_that_cannot_be_loaded_tells_why_and_harms_nobody_else(play):
    async with play(local=True) as scene:
        with pytest.raises(ModelError, match=r"weights\.gguf"):
            await scene.house.loaded()
        assert "could not be loaded" in _row(scene, "local").reason
        assert "/nowhere/weights.gguf" in _row(scene, "local").reason
        assert _row(scene, "e").available
        assert await scene.ask() == "from the edge"
        with pytest.raises(NotServed, match="could not be loaded"):
            await scene.ask("local")


async def test_it_is_loaded_once_whoever_waits(play):
    gate = Gate()
    async with play(prepare=gate, local=True, edge=False) as scene:
        waiting = [asyncio.create_task(scene.ask("local")) for _ in range(3)]
        await until(lambda: gate.asked)
        gate.open.set()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert len(gate.asked) == 1


async def test_a_reload_tries_again_what_could_not_be_loaded_and_waits_for_it_in_vain(play):
    gate = Gate()
    gate.open.set()
    async with play(prepare=gate, local=True) as scene:
        with pytest.raises(ModelError):
            await scene.house.loaded()
        changed = await scene.take(lambda data: data.update(routing={"edge_max": 5}))
        assert changed == ("routing.edge_max 4 -> 5",)
        await until(lambda: len(gate.asked) == 2)


async def test_explaining_needs_no_model(play):
    async with play(local=True, prepare=Gate()) as scene:
        report = await scene.house.gateway.explain(request("auto", "Hello!"))
        assert report.model == "small"

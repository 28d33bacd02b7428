"""An engine that can be put down and taken up again."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.core.request import Request
from hybridge.edge.reloadable import Reloadable
from hybridge.testing.backend import Hang, ScriptedBackend, saying, spec

pytestmark = pytest.mark.anyio
EXPECTED = spec("e")
LOADED = replace(EXPECTED, version="abc")


class ScriptedEngine(ScriptedBackend):
    """A scripted backend that can be closed."""

    closed_engines = 0

    async def close(self) -> None:
        type(self).closed_engines += 1


def call() -> Call:
    request = Request(id="r", model="auto", messages=(), body={})
    return Call(request, Deadline.after(30, SystemClock()))


async def load() -> ScriptedEngine:
    await asyncio.sleep(0)
    return ScriptedEngine(LOADED, saying("here I am"))


async def test_it_answers_as_soon_as_it_is_loaded() -> None:
    backend = Reloadable(EXPECTED, load)
    assert backend.spec == EXPECTED
    await backend.load()
    assert backend.spec == LOADED
    (answer,) = [event async for event in backend.answer(call())]
    assert answer.text == "here I am"
    await backend.probe()


async def test_absent_it_fails_like_an_unreachable_server() -> None:
    backend = Reloadable(EXPECTED, load)
    for attempt in (backend.probe(), anext(backend.answer(call()))):
        with pytest.raises(BackendError) as caught:
            await attempt
        assert caught.value.fault is Fault.NETWORK


async def test_put_down_and_taken_up_again() -> None:
    backend, before = Reloadable(EXPECTED, load), ScriptedEngine.closed_engines
    await backend.load()
    await backend.unload()
    await backend.unload()
    assert ScriptedEngine.closed_engines == before + 1
    with pytest.raises(BackendError):
        await backend.probe()
    await backend.load()
    await backend.probe()


async def test_many_who_load_at_once_load_once() -> None:
    loads = []

    async def counted() -> ScriptedEngine:
        loads.append(1)
        return await load()

    backend = Reloadable(EXPECTED, counted)
    await asyncio.gather(*(backend.load() for _ in range(5)))
    assert len(loads) == 1


async def test_what_cannot_be_loaded_stays_absent() -> None:
    async def broken() -> ScriptedEngine:
        raise ModelError("no such file")

    backend = Reloadable(EXPECTED, broken)
    with pytest.raises(ModelError):
        await backend.load()
    with pytest.raises(BackendError):
        await backend.probe()


async def test_closing_an_answer_closes_the_engines() -> None:
    engine = ScriptedEngine(LOADED, [*saying("a b", stream=True)[:2], Hang()])

    async def loaded() -> ScriptedEngine:
        return engine

    backend = Reloadable(EXPECTED, loaded)
    await backend.load()
    answer = backend.answer(call())
    await anext(answer)
    await answer.aclose()
    assert (engine.closed, engine.running) == (1, 0)

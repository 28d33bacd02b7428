"""Limits per key, from the first step to the last: a place comes back however a request ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from hybridge.budget.allowance import Limits
from hybridge.core.errors import BackendError, Fault, HybridgeError, RateLimited
from hybridge.core.events import Served
from hybridge.core.request import Message, Request
from hybridge.gateway.gateway import Patience
from hybridge.testing.backend import Hang, saying

pytestmark = pytest.mark.anyio

SURE = saying("The tilt of its axis.", confidence=0.99)
CLOUD = saying("The tilt of Earth's axis.")
LONG = [*saying("one two three four", stream=True)[:3], Hang()]
FAILING = [BackendError("cloud was told to fail", backend="cloud", fault=Fault.SERVER)]
HARD = 0.9
ONE = {"anonymous": Limits(max_parallel=1)}
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


async def served(scene, request) -> str:
    async with scene.gateway.serve(request) as reply:
        return "".join([event.text async for event in reply.events])


async def started(scene, request) -> asyncio.Task[str]:
    """A request that hangs in a backend."""
    asking = asyncio.ensure_future(served(scene, request))
    async with asyncio.timeout(2):
        while not scene.cloud.running and not scene.edge.running:
            await asyncio.sleep(0)
    for _ in range(5):
        await asyncio.sleep(0)
    return asking


async def cut(asking: asyncio.Task[str]) -> None:
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking


def free(scene) -> bool:
    return not any(scene.allowances.under_way().values())


@pytest.mark.parametrize(
    ("script", "stream"),
    [(LONG, True), ([Hang()], True), ([Hang()], False), (FAILING, True), (FAILING, False)],
)
async def test_callers_who_hang_up_leave_no_place_taken(stage, ask, script, stream):
    async with stage(SURE, script, p=HARD, limits=ONE) as scene:
        for _ in range(20):
            asking = asyncio.ensure_future(served(scene, ask(model="cloud", stream=stream)))
            for _ in range(12):
                await asyncio.sleep(0)
            await cut_or_failed(asking)
            assert free(scene)
        assert await served(scene, ask(model="edge", stream=stream)) == "The tilt of its axis."
    assert scene.cloud.running == 0


async def cut_or_failed(asking: asyncio.Task[str]) -> None:
    asking.cancel()
    with suppress(asyncio.CancelledError, HybridgeError):
        await asking


@STREAMS
async def test_a_timeout_and_an_unknown_model_give_the_place_back(stage, ask, stream):
    patience = Patience(deadline_s=0.1)
    async with stage(SURE, [Hang()], limits=ONE, patience=patience) as scene:
        for model in ("cloud", "nobody", "cloud"):
            with pytest.raises(HybridgeError):
                await served(scene, ask(model=model, stream=stream))
            assert free(scene)
        await served(scene, ask(model="edge", stream=stream))


class Unreadable(str):
    """A text on which every measuring of it fails."""

    __slots__ = ()

    def isascii(self) -> bool:
        raise RuntimeError("told to break")

    def __len__(self) -> int:
        raise RuntimeError("told to break")


@pytest.mark.parametrize("limits", [Limits(max_parallel=1), Limits(max_parallel=1, tpm=9000)])
async def test_a_tokenizer_that_breaks_gives_place_and_money_back(stage, ask, limits):
    async with stage(SURE, CLOUD, limits={"anonymous": limits}) as scene:
        broken = Request("r", "cloud", (Message("user", Unreadable("a")),), body={})
        with pytest.raises(RuntimeError):
            await served(scene, broken)
        assert free(scene)
        assert [spend.reserved for spend in scene.ledger.status().spends] == [0, 0]
        await served(scene, ask(model="cloud"))


@STREAMS
async def test_one_who_is_refused_neither_waits_nor_counts(stage, ask, stream):
    limits = {"anonymous": Limits(rpm=2, max_parallel=1)}
    async with stage(SURE, LONG, limits=limits) as scene:
        first = await started(scene, ask(model="cloud", stream=True))
        with pytest.raises(RateLimited, match="max_parallel"):
            await served(scene, ask(stream=stream))
        await cut(first)
        assert await served(scene, ask(model="edge", stream=stream))
        with pytest.raises(RateLimited, match="rpm") as refused:
            await served(scene, ask(model="edge", stream=stream))
    assert 0 < refused.value.retry_after_s <= 60
    assert len(scene.of(Served)) == 2, "who was refused has not been served"
    assert scene.of(Served)[0].error == "cancelled"


async def test_a_place_is_free_as_soon_as_the_answer_is_complete(stage, ask):
    """Also while the work behind it is still being put away: the caller may ask again at once."""
    async with stage(SURE, CLOUD, limits=ONE) as scene:
        serving = scene.gateway.serve(ask(model="edge"))
        reply = await serving.__aenter__()
        assert [event async for event in reply.events]
        leaving = asyncio.ensure_future(serving.__aexit__(None, None, None))
        await asyncio.sleep(0)
        assert free(scene)
        await leaving


async def test_other_keys_are_not_concerned(stage, ask):
    async with stage(SURE, LONG, limits={"a": Limits(max_parallel=1)}) as scene:
        first = await started(scene, ask(model="cloud", stream=True, tenant="a"))
        await served(scene, ask(model="edge", tenant="b"))
        await served(scene, ask(model="edge"))
        await cut(first)


async def test_tokens_count_as_they_were_used(stage, ask):
    async with stage(SURE, CLOUD, limits={"anonymous": Limits(tpm=4000)}) as scene:
        for _ in range(3):
            async with scene.gateway.serve(ask(model="edge", max_tokens=3900)) as reply:
                async for _ in reply.events:
                    pass
            await asyncio.sleep(0)
        remaining = reply.rates["tokens"].remaining
        assert 3900 < remaining < 4000, "what had been promised came back"
        with pytest.raises(RateLimited, match="tpm"):
            await served(scene, ask(model="edge", max_tokens=4000))


async def test_a_reply_tells_what_is_left(stage, ask):
    async with stage(SURE, CLOUD, limits={"anonymous": Limits(rpm=5)}) as scene:
        async with scene.gateway.serve(ask(model="edge")) as reply:
            rate = reply.rates["requests"]
        async with scene.gateway.serve(ask(model="edge", tenant="free")) as reply:
            assert reply.rates == {}
    assert (rate.limit, rate.remaining) == (5, 4)
    assert 59 < rate.reset_s <= 60

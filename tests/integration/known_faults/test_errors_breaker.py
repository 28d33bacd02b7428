"""A backend that comes back: one call tries it, and nobody else waits for that.

Each test goes through both tiers, streaming and not, in one gateway and all at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from tests.integration.known_faults.common import Held, chat, port_of, until
from tests.integration.known_faults.vocabularies import CHAT, told
from tests.integration.running import Running

from hybridge.testing.http import Got, ask, sent
from hybridge.testing.replies import fails, hangs, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
OPENED_BY = 2
QUICK = {
    "breaker_failures": OPENED_BY,
    "breaker_window": 1000,
    "breaker_open_s": 1.0,
    "probe_interval_s": 600,
}
NAMES = {"e-whole": False, "e-stream": True, "c-whole": False, "c-stream": True}


@dataclass(frozen=True, slots=True)
class Case:
    """One backend, its upstream, and how it is asked."""

    gateway: Running
    model: str
    up: Upstream
    stream: bool

    async def ask(self, text: str = "Hello!") -> Got:
        body = chat(text, model=self.model, stream=self.stream)
        return await ask(port_of(self.gateway), body=body)

    async def state(self) -> int:
        """0 closed, 1 half open, 2 open."""
        shown = (await self.gateway.get("/metrics")).raw.decode()
        name = f'hybridge_breaker_state{{backend="{self.model}"}} '
        found = (line for line in shown.splitlines() if line.startswith(name))
        return next((int(float(line.split()[-1])) for line in found), 0)

    async def open(self) -> None:
        """Its failures open the breaker."""
        self.up.then(fails(500))
        while await self.state() != 2:
            await self.ask()
        self.up.requests.clear()

    async def over(self) -> None:
        """Waits for the end of the rest, without asking."""
        for _ in range(600):
            rows = (await self.gateway.get("/healthz")).json["backends"]
            if next(row["available"] for row in rows if row["name"] == self.model):
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the rest never ended")

    def fifty(self) -> list[asyncio.Task[Got]]:
        return [asyncio.ensure_future(self.ask(f"Question {i}")) for i in range(50)]

    async def one_of_fifty(self) -> tuple[Held, list[asyncio.Task[Got]]]:
        """After its breaker's rest: one of fifty hangs at the upstream, the others are over."""
        await self.open()
        hanging = Held(says("At last."))
        self.up.then(hanging)
        await self.over()
        tasks = self.fifty()
        await until(lambda: sum(task.done() for task in tasks) == 49, "the end of 49")
        assert len(self.up.posts) == 1
        return hanging, tasks


@pytest.fixture
def cases(start):
    """Runs a coroutine function for every case at once."""

    @asynccontextmanager
    async def opened(**config: Any) -> AsyncIterator[list[Case]]:
        async with AsyncExitStack() as stack:
            ups = {name: await stack.enter_async_context(Upstream()) for name in NAMES}
            spare = await stack.enter_async_context(Upstream(says("From another.")))
            rows = {n: {"name": n, "base_url": up.base_url, "model": n} for n, up in ups.items()}
            rows["spare"] = {"name": "spare", "base_url": spare.base_url, "model": "spare"}
            price = {"price": {"input_usd": 1, "output_usd": 1}}
            edges = [row | {"engine": "openai"} for n, row in rows.items() if n[0] == "e"]
            clouds = [row | price for n, row in rows.items() if n[0] != "e"]
            tiers = {"edge": {"backends": edges}, "cloud": {"backends": clouds}}
            gateway = await stack.enter_async_context(start(tiers | config))
            yield [Case(gateway, name, ups[name], stream) for name, stream in NAMES.items()]

    async def each(do: Callable[[Case], Awaitable[None]], **config: Any) -> None:
        async with opened(**config) as found:
            await asyncio.gather(*map(do, found))

    return each


@pytest.mark.fault("B26")
async def test_of_fifty_one_is_the_probe_and_the_others_are_refused_at_once(cases):
    async def one(case: Case) -> None:
        hanging, tasks = await case.one_of_fifty()
        refused = [task.result() for task in tasks if task.done()]
        assert {got.status for got in refused} == {503}
        assert all(int(got.headers["retry-after"]) >= 1 for got in refused)
        [probe] = [task for task in tasks if not task.done()]
        hanging.free = True
        assert told(CHAT, await probe).text == "At last."
        assert await case.state() == 0
        case.up.then(says("Again."))
        assert told(CHAT, await case.ask()).text == "Again."

    await cases(one, execution=QUICK)


@pytest.mark.fault("B26")
async def test_of_fifty_the_others_use_their_fallback(cases):
    async def one(case: Case) -> None:
        hanging, tasks = await case.one_of_fifty()
        answers = [told(CHAT, task.result()).text for task in tasks if task.done()]
        assert answers == ["From another."] * 49
        hanging.free = True
        assert {told(CHAT, await task).text for task in tasks} == {"From another.", "At last."}

    await cases(one, execution=QUICK, routing={"fallbacks": {name: ["spare"] for name in NAMES}})


@pytest.mark.fault("B26")
async def test_an_old_calls_late_success_closes_nothing(cases):
    async def one(case: Case) -> None:
        slow = Held(says("Late."))
        case.up.then(slow)
        late = asyncio.ensure_future(case.ask("Early"))
        await until(lambda: case.up.posts, "the old call")
        await case.open()
        case.up.then(says("Well."))
        slow.free = True
        assert told(CHAT, await late).text == "Late."
        assert await case.state() == 2
        assert (await case.ask()).status == 503
        assert not case.up.posts

    await cases(one, execution=QUICK | {"breaker_open_s": 120.0})


@pytest.mark.fault("B26")
async def test_a_probe_whose_caller_hangs_up_gives_its_place_back(cases):
    async def one(case: Case) -> None:
        await case.open()
        case.up.then(hangs())
        await case.over()
        asked = chat("Probe", model=case.model, stream=case.stream)
        async with sent(port_of(case.gateway), body=asked):
            [probe] = await until(lambda: case.up.posts, "the probe")
            assert (await case.ask()).status == 503
        await asyncio.wait_for(probe.gone.wait(), 30)
        case.up.then(says("Well again."))
        for _ in range(600):
            got = await case.ask()
            if got.status == 200:
                break
            await asyncio.sleep(0.05)
        assert told(CHAT, got).text == "Well again."
        assert await case.state() == 0
        assert len(case.up.posts) == 2

    await cases(one, execution=QUICK)


@pytest.mark.fault("B26")
async def test_a_probe_that_fails_opens_it_again(cases):
    async def one(case: Case) -> None:
        await case.open()
        await case.over()
        assert (await case.ask()).status in (500, 502)
        assert await case.state() == 2
        assert (await case.ask()).status == 503
        assert len(case.up.posts) == 1

    await cases(one, execution=QUICK)

"""R4: shadow work is bounded, and what is over a bound is dropped and counted."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from hybridge.core.events import Events, GatewayEvent, ShadowDropped
from hybridge.learning.config import LearningConfig
from hybridge.learning.shadow import Shadow
from hybridge.testing.clock import ManualClock


class Yard:
    """A shadow queue whose jobs wait at a gate."""

    def __init__(self, **config: Any) -> None:
        self.clock = ManualClock()
        self.heard: list[GatewayEvent] = []
        self.shadow = Shadow(LearningConfig(**config), self.clock, Events(self.heard.append))
        self.gate = asyncio.Event()
        self.running = 0
        self.most = 0
        self.done: list[str] = []
        self.one_more: asyncio.Queue[None] = asyncio.Queue()
        self.told: list[str] = []

    def submit(self, name: str, cost: str = "0") -> bool:
        async def job() -> None:
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await self.gate.wait()
                self.done.append(name)
                self.one_more.put_nowait(None)
            finally:
                self.running -= 1

        return self.shadow.submit(
            name, job, on_drop=lambda: self.told.append(name), cost_usd=Decimal(cost)
        )

    async def finish(self, count: int) -> None:
        await asyncio.sleep(0)  # whoever may run has begun
        self.gate.set()
        async with asyncio.timeout(5):
            for _ in range(count):
                await self.one_more.get()

    @property
    def dropped(self) -> list[tuple[str, str]]:
        return [(e.request_id, e.reason) for e in self.heard if isinstance(e, ShadowDropped)]


@pytest.mark.anyio
async def test_so_many_run_so_many_wait_and_the_rest_is_dropped() -> None:
    yard = Yard(shadow_concurrency=2, shadow_queue=3)
    let_in = [yard.submit(str(n)) for n in range(7)]
    assert let_in == [True] * 5 + [False] * 2
    assert yard.dropped == [("5", "queue_full"), ("6", "queue_full")]
    await yard.finish(5)
    assert yard.most == 2
    assert sorted(yard.done) == ["0", "1", "2", "3", "4"]
    assert yard.submit("later")
    await yard.finish(1)


@pytest.mark.anyio
async def test_no_queue_still_lets_one_run() -> None:
    yard = Yard(shadow_concurrency=1, shadow_queue=0)
    assert yard.submit("a")
    assert not yard.submit("b")
    await yard.shadow.close()


@pytest.mark.anyio
async def test_the_days_money_bounds_what_costs_and_nothing_else() -> None:
    yard = Yard(shadow_daily_usd=Decimal(1))
    assert yard.submit("a", "0.6")
    assert not yard.submit("b", "0.6")
    assert yard.submit("free")
    assert yard.dropped == [("b", "budget")]
    yard.clock.advance(86400)
    assert yard.submit("c", "0.6")
    await yard.shadow.close()


@pytest.mark.anyio
async def test_a_failing_job_hurts_no_other() -> None:
    yard = Yard(shadow_concurrency=1)

    async def broken() -> None:
        raise ZeroDivisionError

    assert yard.shadow.submit("broken", broken)
    assert yard.submit("sound")
    await yard.finish(1)
    assert yard.done == ["sound"]


@pytest.mark.anyio
async def test_closing_drops_what_waits_and_stops_what_runs_and_counts_both() -> None:
    yard = Yard(shadow_concurrency=1)
    yard.submit("runs")
    yard.submit("waits")
    await asyncio.sleep(0)
    assert yard.running == 1
    await yard.shadow.close()
    assert yard.running == 0
    assert yard.done == []
    assert sorted(yard.dropped) == [("runs", "closing"), ("waits", "closing")]
    assert sorted(yard.told) == ["runs", "waits"]
    assert not yard.submit("late")
    assert yard.dropped[-1] == ("late", "closing")


@pytest.mark.anyio
async def test_closing_before_anything_began_leaves_nothing_behind() -> None:
    yard = Yard()
    yard.submit("never begun")
    await yard.shadow.close()
    assert yard.told == ["never begun"]

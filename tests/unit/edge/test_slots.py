"""Slots are given out in order, to as many as there are, and none gets lost."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError, Fault
from hybridge.edge.slots import Slots

pytestmark = pytest.mark.anyio


def soon(seconds: float = 30.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_free_slot_is_given_at_once() -> None:
    slots = Slots(2, 0, backend="e")
    await slots.take(soon())
    await slots.take(soon())
    with pytest.raises(BackendError) as caught:
        await slots.take(soon())
    assert caught.value.fault is Fault.BUSY
    assert caught.value.retry_after_s is not None
    assert caught.value.retry_after_s > 0


async def test_who_waits_longest_is_next() -> None:
    slots, order = Slots(1, 8, backend="e"), []
    await slots.take(soon())

    async def ask(name: int) -> None:
        await slots.take(soon())
        order.append(name)
        slots.give_back()

    tasks = [asyncio.create_task(ask(name)) for name in range(5)]
    await settled()
    assert (order, slots.waiting) == ([], 5)
    slots.give_back()
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3, 4]


async def test_the_queue_is_bounded() -> None:
    slots = Slots(1, 1, backend="e")
    await slots.take(soon())
    waiting = asyncio.create_task(slots.take(soon()))
    await settled()
    with pytest.raises(BackendError, match="1 requests wait already"):
        await slots.take(soon())
    slots.give_back()
    await waiting


async def test_waiting_ends_at_the_deadline() -> None:
    slots = Slots(1, 1, backend="e")
    await slots.take(soon())
    with pytest.raises(BackendError) as caught:
        await slots.take(soon(0.01))
    assert caught.value.fault is Fault.TIMEOUT
    assert slots.waiting == 0


async def test_who_gives_up_waiting_leaves_the_queue() -> None:
    slots = Slots(1, 2, backend="e")
    await slots.take(soon())
    first, second = (asyncio.create_task(slots.take(soon())) for _ in range(2))
    await settled()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert slots.waiting == 1
    slots.give_back()
    await second


async def test_a_slot_given_in_the_moment_of_giving_up_is_passed_on() -> None:
    slots = Slots(1, 2, backend="e")
    await slots.take(soon())
    first, second = (asyncio.create_task(slots.take(soon())) for _ in range(2))
    await settled()
    slots.give_back()  # it is the first one's now, which does not know it yet
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await asyncio.wait_for(second, 5)


class Crowd:
    """Plays a story of asking, giving back and giving up, and counts what is held."""

    def __init__(self, count: int, queue: int) -> None:
        self.slots = Slots(count, queue, backend="e")
        self.count = count
        self.held = 0
        self.waiting: list[asyncio.Task[None]] = []

    async def ask(self) -> None:
        await self.slots.take(soon())
        self.held += 1
        assert self.held <= self.count

    async def play(self, acts: list[str]) -> None:
        for act in acts:
            if act == "ask":
                self.waiting.append(asyncio.create_task(self.ask()))
            elif act == "back" and self.held:
                self.held -= 1
                self.slots.give_back()
            elif act == "give up" and self.waiting:
                self.waiting.pop(0).cancel()
            await asyncio.sleep(0)
        await settled()

    async def end(self) -> None:
        while self.held:
            self.held -= 1
            self.slots.give_back()
            await settled()
        results = await asyncio.gather(*self.waiting, return_exceptions=True)
        assert all(r is None or isinstance(r, BackendError) for r in results)


@given(
    count=st.integers(1, 3),
    queue=st.integers(0, 3),
    acts=st.lists(st.sampled_from(["ask", "ask", "back", "give up"]), max_size=30),
)
def test_no_slot_is_lost_or_given_twice(count: int, queue: int, acts: list[str]) -> None:
    async def story() -> None:
        crowd = Crowd(count, queue)
        await crowd.play(acts)
        await crowd.end()
        for _ in range(count):  # all of them are there again
            await asyncio.wait_for(crowd.slots.take(soon()), 5)

    asyncio.run(story())

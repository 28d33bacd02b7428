"""A thread that computes and a loop that listens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from hybridge.core.clock import Deadline, SystemClock
from hybridge.edge.generation import Generation

pytestmark = pytest.mark.anyio


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def soon(seconds: float = 30.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


async def test_pieces_come_in_order_and_then_the_end(pool: ThreadPoolExecutor) -> None:
    threads = set()

    def work(say: Callable[[str], bool]) -> None:
        threads.add(threading.get_ident())
        for piece in "abc":
            assert not say(piece)

    generation = Generation(work, pool)
    said = [await generation.next(soon()) for _ in range(4)]
    assert said == ["a", "b", "c", None]
    assert threading.get_ident() not in threads
    await generation.finished


async def test_what_the_work_raises_reaches_the_listener(pool: ThreadPoolExecutor) -> None:
    def work(say: Callable[[str], bool]) -> None:
        say("a")
        raise ValueError("no such role")

    generation = Generation(work, pool)
    assert await generation.next(soon()) == "a"
    with pytest.raises(ValueError, match="no such role"):
        await generation.next(soon())
    await generation.finished


async def test_stopping_ends_the_work_at_its_next_piece(pool: ThreadPoolExecutor) -> None:
    stopped_at, go_on = [], threading.Event()

    def work(say: Callable[[str], bool]) -> None:
        for number in range(1000):
            if say(str(number)):
                stopped_at.append(number)
                return
            go_on.wait()

    generation = Generation(work, pool)
    assert await generation.next(soon()) == "0"
    generation.stop()
    go_on.set()
    await generation.finished
    assert stopped_at in ([0], [1])  # perhaps it was just about to go on from the first
    assert await generation.next(soon()) is None


async def test_a_silent_engine_is_waited_for_no_longer_than_the_deadline(
    pool: ThreadPoolExecutor,
) -> None:
    release = threading.Event()
    generation = Generation(lambda _say: release.wait() and None, pool)
    with pytest.raises(TimeoutError):
        await generation.next(soon(0.01))
    release.set()
    await generation.finished


async def test_one_that_was_stopped_before_its_turn_never_begins(pool: ThreadPoolExecutor) -> None:
    release, began = threading.Event(), []
    first = Generation(lambda _say: release.wait() and None, pool)
    second = Generation(lambda _say: began.append(True), pool)
    second.stop()
    release.set()
    await asyncio.gather(first.finished, second.finished)
    assert began == []

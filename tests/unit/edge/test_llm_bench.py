"""Comparing engines of local LLMs; the clock is theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest

from hybridge.core.backend import Call
from hybridge.core.response import Completion, Event
from hybridge.edge.llm_bench import Contestant, fastest, time_engines
from hybridge.edge.timings import Timed, unheard

pytestmark = pytest.mark.anyio


class Engine:
    """Says how long it took, and remembers its prompts."""

    def __init__(self, prefill: float, decode: float) -> None:
        self.pace = {"prefill": prefill, "decode": decode}
        self.timed: Timed = unheard
        self.prompts: list[str] = []
        self.closed = False

    async def answer(self, call: Call) -> AsyncIterator[Event]:
        self.prompts.append(call.request.last_user_text)
        for phase, pace in self.pace.items():
            self.timed(phase, 100, 100 / pace)
        yield Completion("done", "stop")

    async def close(self) -> None:
        self.closed = True


async def loaded(engine: Engine) -> Engine:
    return engine


async def test_each_is_loaded_asked_and_freed() -> None:
    engines = [Engine(200, 10), Engine(50, 50)]
    held = iter([100, 700, 700, 650])
    rows = await time_engines(
        [
            Contestant(name, 2, partial(loaded, engine), lambda: next(held))
            for name, engine in zip(("llamacpp", "other"), engines, strict=True)
        ],
        0.0,
    )
    assert [(row.prefill_tokens_per_s, row.decode_tokens_per_s) for row in rows] == [
        (200, 10), (50, 50),
    ]  # fmt: skip
    assert [row.memory_bytes for row in rows] == [600, 0]
    assert [row.answers for row in rows] == [2, 2]
    assert all(engine.closed for engine in engines)
    assert fastest(rows).engine == "other"


async def test_no_prompt_begins_like_another() -> None:
    engine = Engine(1, 1)
    await time_engines([Contestant("llamacpp", 1, partial(loaded, engine))], 0.0)
    one, other = engine.prompts
    assert one[0] != other[0]


async def test_an_engine_that_fails_is_freed() -> None:
    class Broken(Engine):
        async def answer(self, call: Call) -> AsyncIterator[Event]:
            raise RuntimeError("no")
            yield

    engine = Broken(1, 1)
    with pytest.raises(RuntimeError):
        await time_engines([Contestant("llamacpp", 1, partial(loaded, engine))], 0.0)
    assert engine.closed

"""Comparing engines of local LLMs; the clock is theirs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from functools import partial

import pytest
import yaml

from hybridge.core.backend import Call
from hybridge.core.response import Completion, Event
from hybridge.edge.config import EdgeConfig
from hybridge.edge.llm_bench import TURNS, Contestant, Loaded, fastest, proposal, time_engines
from hybridge.edge.memory import resident
from hybridge.edge.timings import Timed, unheard

pytestmark = pytest.mark.anyio


class Engine:
    """Says how long it took, and remembers what it was asked."""

    def __init__(self, prefill: float, decode: float, log: list[str] | None = None) -> None:
        self.pace = {"prefill": prefill, "decode": decode}
        self.timed: Timed = unheard
        self.prompts: list[str] = []
        self.log = [] if log is None else log
        self.loaded = 0

    def tell(self, timed: Timed) -> None:
        self.timed = timed

    async def answer(self, call: Call) -> AsyncIterator[Event]:
        self.prompts.append(call.request.last_user_text)
        self.log.append(f"{self.pace['prefill']}")
        for phase, pace in self.pace.items():
            self.timed(phase, 100, 100 / pace)
        yield Completion(b"done", "stop")

    async def close(self) -> None:
        self.loaded -= 1


async def load(engine: Engine, pid: int | None = None) -> Loaded:
    engine.loaded += 1
    return Loaded(engine, pid)


def contestant(name: str, engine: Engine, pid: int | None = None) -> Contestant:
    return Contestant(name, "m", 2, partial(load, engine, pid))


async def test_each_has_its_turns_and_the_medians_are_told() -> None:
    log: list[str] = []
    one, other = Engine(200, 10, log), Engine(50, 50, log)
    done: list[None] = []
    rows = await time_engines(
        [contestant("llamacpp", one), contestant("ortgenai", other)],
        0.0,
        lambda: done.append(None),
    )
    assert log == ["200", "50"] * TURNS
    assert len(done) == 2 * TURNS
    assert [(row.prefill_tokens_per_s, row.decode_tokens_per_s) for row in rows] == [
        (200, 10), (50, 50),
    ]  # fmt: skip
    assert [row.answers for row in rows] == [TURNS, TURNS]
    assert one.loaded == other.loaded == 0


async def test_the_fastest_is_who_has_read_and_written_first() -> None:
    rows = await time_engines(
        [contestant("llamacpp", Engine(200, 10)), contestant("ortgenai", Engine(50, 50))], 0.0
    )
    best = fastest(rows)
    assert [row.typical_s for row in rows] == pytest.approx([200 / 200 + 50 / 10, 4 + 1])
    assert best.engine == "ortgenai"
    row = EdgeConfig.model_validate(yaml.safe_load(proposal(best))["edge"]).backends[0]
    assert (row.engine, row.model, row.threads) == ("ortgenai", "m", 2)


async def test_a_process_of_its_own_is_weighed_as_a_whole() -> None:
    """The gateway's own process holds more than 10 MB; what an engine adds to it here is nothing."""
    rows = await time_engines(
        [contestant("llamacpp", Engine(1, 1)), contestant("ortgenai", Engine(1, 1), os.getpid())],
        0.0,
    )
    held = resident()
    assert held is not None
    assert [row.memory_bytes for row in rows] == [
        pytest.approx(0, abs=10e6),
        pytest.approx(held, rel=0.2),
    ]
    assert resident(2**30) is None  # no such process


async def test_no_prompt_of_a_turn_begins_like_another() -> None:
    engine = Engine(1, 1)
    await time_engines([contestant("llamacpp", engine)], 0.003 * TURNS)
    assert len(engine.prompts) > TURNS
    firsts = {prompt.partition(".")[0] for prompt in engine.prompts}
    assert len(firsts) >= len(engine.prompts) / TURNS


async def test_an_engine_that_fails_is_freed() -> None:
    class Broken(Engine):
        async def answer(self, call: Call) -> AsyncIterator[Event]:
            raise RuntimeError("no")
            yield

    engine = Broken(1, 1)
    with pytest.raises(RuntimeError):
        await time_engines([contestant("llamacpp", engine)], 0.0)
    assert engine.loaded == 0

"""How fast local LLM engines are on this machine: loading, reading a prompt, writing, memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Protocol

from msgspec import Struct

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.request import Message, Request
from hybridge.core.response import Event
from hybridge.edge.memory import memory
from hybridge.edge.timings import Timed

PATIENCE_S = 120.0
"""For one answer."""
_SENTENCE = "The supplier of part {n} wrote that the delivery of {n} boxes is late by {n} days. "
_SENTENCES, _TOKENS = 8, 32


class Engine(Protocol):
    """A loaded model, of whichever engine."""

    def tell(self, timed: Timed) -> None:
        """From now on `timed` hears how long each prompt and each answer took to compute."""
        ...

    def answer(self, call: Call) -> AsyncIterator[Event]:
        """See `core.backend.Backend`."""
        ...

    async def close(self) -> None:
        """Frees it."""
        ...


class Contestant(Struct, frozen=True):
    """An engine with its settings."""

    engine: str
    threads: int
    load: Callable[[], Awaitable[Engine]]
    resident: Callable[[], int | None] = lambda: memory()["resident"]
    """Bytes held by the process that computes."""


class EngineTimed(Struct, frozen=True):
    """What one of them took: medians."""

    engine: str
    threads: int
    load_s: float
    prefill_tokens_per_s: float
    decode_tokens_per_s: float
    memory_bytes: int | None
    """What loading and answering added."""
    answers: int


async def time_engines(
    contestants: Iterable[Contestant], seconds: float, done: Callable[[], None] = lambda: None
) -> list[EngineTimed]:
    """One after the other, for memory's sake; each answers for `seconds`, and twice at least."""
    rows = []
    for contestant in contestants:
        rows.append(await _timed(contestant, seconds))
        done()
    return rows


def fastest(rows: Iterable[EngineTimed]) -> EngineTimed:
    """By the time that a prompt of 200 tokens and an answer of 50 take."""
    return min(rows, key=lambda r: 200 / r.prefill_tokens_per_s + 50 / r.decode_tokens_per_s)


async def _timed(contestant: Contestant, seconds: float) -> EngineTimed:
    paces: dict[str, list[float]] = {"prefill": [], "decode": []}
    before, started_s = contestant.resident(), time.perf_counter()
    engine = await contestant.load()
    load_s = time.perf_counter() - started_s

    def heard(phase: str, tokens: int, took_s: float) -> None:
        paces[phase].append(tokens / took_s)

    engine.tell(heard)
    try:
        answers, begun_s = 0, time.perf_counter()
        while answers < 2 or time.perf_counter() - begun_s < seconds:
            async for _ in engine.answer(_call(answers)):
                pass
            answers += 1
        after = contestant.resident()
    finally:
        await engine.close()
    return EngineTimed(
        contestant.engine,
        contestant.threads,
        round(load_s, 3),
        round(statistics.median(paces["prefill"]), 1),
        round(statistics.median(paces["decode"]), 1),
        None if before is None or after is None else max(0, after - before),
        answers,
    )


def _call(number: int) -> Call:
    """A prompt that begins like no other, so that nothing of it is known from before."""
    lines = "".join(_SENTENCE.format(n=100 * number + n) for n in range(_SENTENCES))
    text = f"{number}. Summarise in detail: {lines}"
    message = {"role": "user", "content": text}
    body = {"model": "auto", "messages": [message], "max_tokens": _TOKENS}
    request = Request(
        id=f"bench-{number}",
        model="auto",
        messages=(Message("user", text),),
        body=body,
        max_tokens=_TOKENS,
    )
    return Call(request, Deadline.after(PATIENCE_S, SystemClock()))

"""How fast local LLM engines are on this machine: loading, reading a prompt, writing, memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from itertools import chain
from typing import Protocol

from msgspec import Struct

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.request import Message, Request
from hybridge.core.response import Event
from hybridge.edge.memory import resident
from hybridge.edge.timings import Timed

TURNS = 3
"""Of each contestant: what disturbs the machine for a while disturbs all of them."""
PATIENCE_S = 120.0
"""For one answer."""
TYPICAL = 200, 50
"""Tokens of a prompt and of an answer by which engines are compared."""
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


class Loaded(Struct, frozen=True):
    """An engine, and the process that computes for it."""

    engine: Engine
    pid: int | None = None
    """None: this one."""


class Contestant(Struct, frozen=True):
    """An engine with its settings."""

    engine: str
    model: str
    """As it is named in the configuration."""
    threads: int
    load: Callable[[], Awaitable[Loaded]]


class EngineTimed(Struct, frozen=True):
    """What one of them took: medians."""

    engine: str
    model: str
    threads: int
    load_s: float
    prefill_tokens_per_s: float
    decode_tokens_per_s: float
    memory_bytes: int | None
    """What loading and answering added; of a process of its own, all that it holds."""
    answers: int

    @property
    def typical_s(self) -> float:
        """Seconds for a `TYPICAL` prompt and its answer."""
        prompt, answer = TYPICAL
        return prompt / self.prefill_tokens_per_s + answer / self.decode_tokens_per_s


class _Turn(Struct):
    """What one turn showed."""

    load_s: float = 0.0
    memory_bytes: int | None = None
    prefill: list[float] = []
    decode: list[float] = []
    """Tokens a second, of each answer."""

    def heard(self, phase: str, tokens: int, took_s: float) -> None:
        (self.prefill if phase == "prefill" else self.decode).append(tokens / took_s)


async def time_engines(
    contestants: Sequence[Contestant], seconds: float, done: Callable[[], None] = lambda: None
) -> list[EngineTimed]:
    """In turns, and one loaded at a time, for memory's sake.

    Each answers for `seconds` in all, and once in each of its `TURNS` at least; `done` is called
    after each. Raises `ModelError` for one that cannot be loaded.
    """
    turns: list[list[_Turn]] = [[] for _ in contestants]
    for _ in range(TURNS):
        for contestant, own in zip(contestants, turns, strict=True):
            own.append(await _turn(contestant, seconds / TURNS))
            done()
    return [_timed(*pair) for pair in zip(contestants, turns, strict=True)]


def fastest(rows: Iterable[EngineTimed]) -> EngineTimed:
    """By the time that a `TYPICAL` prompt and its answer take."""
    return min(rows, key=lambda row: row.typical_s)


def proposal(best: EngineTimed) -> str:
    """The settings as YAML, to be pasted into `hybridge.yaml`."""
    return (
        f"edge:\n  backends:\n    - name: local\n      engine: {best.engine}\n"
        f"      model: {best.model}\n      threads: {best.threads}\n"
    )


async def _turn(contestant: Contestant, seconds: float) -> _Turn:
    turn, before, started_s = _Turn(), resident(), time.perf_counter()
    loaded = await contestant.load()
    turn.load_s = time.perf_counter() - started_s
    loaded.engine.tell(turn.heard)
    try:
        answers, begun_s = 0, time.perf_counter()
        while answers == 0 or time.perf_counter() - begun_s < seconds:
            async for _ in loaded.engine.answer(_call(answers)):
                pass
            answers += 1
        turn.memory_bytes = _held(before, loaded.pid)
    finally:
        await loaded.engine.close()
    return turn


def _held(before: int | None, pid: int | None) -> int | None:
    now = resident(pid)
    if pid is not None:
        return now
    return None if now is None or before is None else max(0, now - before)


def _timed(contestant: Contestant, turns: Sequence[_Turn]) -> EngineTimed:
    prefill, decode = (
        list(chain.from_iterable(getattr(turn, phase) for turn in turns))
        for phase in ("prefill", "decode")
    )
    held = [turn.memory_bytes for turn in turns if turn.memory_bytes is not None]
    return EngineTimed(
        contestant.engine,
        contestant.model,
        contestant.threads,
        round(statistics.median(turn.load_s for turn in turns), 3),
        round(statistics.median(prefill), 1),
        round(statistics.median(decode), 1),
        max(held, default=None),  # what a turn gave back late does not count for the next one
        len(decode),
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

"""Decisions of many requests at once: how many a second, and how long each of them takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice

from benchmarks.decision.goals import FAST_MS, PER_SECOND, REFERENCE
from benchmarks.decision.prompts import Size, prompts
from benchmarks.decision.stages import Decision, request
from benchmarks.decision.timing import Times

AT_ONCE = (1, 8, 32)
"""Requests that are decided at the same time: so many callers, each with the next one at once."""
DISTINCT = 400
"""Prompts of a size; with more callers than so they come again."""
ENCODED = 0.95
"""Share of decisions that need the encoder for a rate to count: the text head alone is no feat."""
WARM_UP_S = 0.3
PATIENCE_S = 1.0
"""Deadline of each score here, so that throughput is not bought with scores of the text alone."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """What some callers saw in some seconds."""

    times: Times
    seconds: float
    cpu_s: float
    """Processor time of the whole process, all threads."""
    with_encoder: int
    """Decisions whose encoder was there in time."""

    @property
    def per_second(self) -> float:
        return len(self.times.calls_ms) / self.seconds

    @property
    def share(self) -> float:
        """0-1, of decisions whose encoder was there in time."""
        return self.with_encoder / len(self.times.calls_ms)

    @property
    def cpu_ms(self) -> float:
        """Of one decision: the figure that a busy machine disturbs least."""
        return 1000 * self.cpu_s / len(self.times.calls_ms)

    def json(self) -> dict[str, float]:
        decided = len(self.times.calls_ms)
        return {
            "decisions": decided,
            "per_second": round(self.per_second, 1),
            "cpu_ms": round(self.cpu_ms, 3),
            "with_encoder": round(self.share, 3),
            "p50_ms": round(self.times.at(0.5), 3),
            "p99_ms": round(self.times.at(0.99), 3),
        }


async def crowd(decision: Decision, size: Size, at_once: int, seconds: float) -> Crowd:
    """`at_once` callers for so many seconds, in English."""
    texts = cycle(list(islice(prompts("en", size), DISTINCT)))
    await _callers(decision, texts, at_once, WARM_UP_S)
    cpu_s, started_s = time.process_time(), time.perf_counter()
    calls_ms, encoded = await _callers(decision, texts, at_once, seconds)
    return Crowd(
        Times(calls_ms),
        time.perf_counter() - started_s,
        time.process_time() - cpu_s,
        encoded,
    )


async def _callers(
    decision: Decision, texts: Iterator[str], at_once: int, seconds: float
) -> tuple[list[float], int]:
    calls_ms: list[float] = []
    encoded = 0
    end_s = time.perf_counter() + seconds

    async def caller() -> None:
        nonlocal encoded
        while (started_s := time.perf_counter()) < end_s:
            plan = await decision(request(next(texts)))
            calls_ms.append(1000 * (time.perf_counter() - started_s))
            encoded += plan.score is not None and plan.score.source == "prior"

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(caller())
    return calls_ms, encoded


def crowd_rows(figures: Mapping[tuple[str, int], Crowd]) -> list[list[str]]:
    """A table's lines."""
    return [
        [
            size,
            str(at_once),
            f"{seen.per_second:.0f}",
            f"{seen.cpu_ms:.2f}",
            f"{seen.times.at(0.5):.1f} / {seen.times.at(0.99):.1f}",
            f"{seen.share:.0%}",
        ]
        for (size, at_once), seen in figures.items()
    ]


CROWD_HEAD = ["prompt", "at once", "decisions/s", "CPU ms each", "p50 / p99 ms", "with encoder"]


def crowd_missed(figures: Mapping[tuple[str, int], Crowd]) -> Iterator[str]:
    """The goals of serving: a lone decision's 99th percentile, and decisions a second."""
    for (size, at_once), seen in figures.items():
        if at_once == 1 and size == REFERENCE and seen.times.at(0.99) >= FAST_MS:
            yield f"{size}, alone: p99 {seen.times.at(0.99):.1f} ms, not under {FAST_MS:g} ms"
    several = [seen for (_, at_once), seen in figures.items() if at_once > 1]
    best = max((seen.per_second for seen in several if seen.share >= ENCODED), default=0.0)
    if best < PER_SECOND:
        yield f"{best:.0f} decisions/s with the encoder at most, not {PER_SECOND}"

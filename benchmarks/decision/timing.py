"""Calls and how long they took."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.decision.stages import Stage, request
from benchmarks.measured import percentile

WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Times:
    """How long the calls of one stage took, each in milliseconds."""

    calls_ms: Sequence[float]

    def at(self, share: float) -> float:
        """A percentile in milliseconds; `share` is 0-1, and 1 the slowest call."""
        return percentile(self.calls_ms, share)

    def __str__(self) -> str:
        return " / ".join(f"{self.at(share):.2f}" for share in (0.5, 0.95, 0.99))


def settle_down() -> None:
    """As `hybridge serve` does once all is built: the collector need not look at it again."""
    gc.collect()
    gc.freeze()


async def time_stages(
    stages: Mapping[str, Stage], prompts: Iterator[str], calls: int
) -> dict[str, Times]:
    """Every stage on the same prompts, in turns, so that a slow moment hits them all."""
    took: dict[str, list[float]] = {title: [] for title in stages}
    for place, text in enumerate(islice(prompts, WARM_UP + calls)):
        for title, stage in stages.items():
            took_ms = await _once(stage, text)
            if place >= WARM_UP:
                took[title].append(took_ms)
        gc.collect(0)
    return {title: Times(calls_ms) for title, calls_ms in took.items()}


async def _once(stage: Stage, text: str) -> float:
    asked = request(text)
    started_s = time.perf_counter()
    await stage(asked)
    return 1000 * (time.perf_counter() - started_s)

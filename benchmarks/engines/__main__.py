"""`python -m benchmarks.engines GGUF FOLDER`: one model in `llamacpp` and in `ortgenai`, in turns.

Both are asked as the gateway asks them, one answer at a time. Wall-clock figures suffer from a busy
machine; processor time hardly does.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measured import machine, table, write
from hybridge.core.backend import Backend, Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.request import Request
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.edge.ortgenai import OrtGenai

WORDS = ("river", "candle", "tiger", "window", "silver", "pepper", "garden", "apple", "winter")
PROMPT_WORDS, ANSWER_TOKENS = 300, 64
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Engine:
    name: str
    backend: Backend
    rss_mb: float
    cpu_s: Callable[[], float]
    """Processor time so far of the process that computes."""


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    engines = [await llama(asked.gguf, asked.threads), await genai(asked.folder, asked.threads)]
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(asked.rounds):
        for engine in engines:
            for what, value in (await measured(engine)).items():
                figures[engine.name][what].append(value)
    found = {
        engine.name: {
            **{what: statistics.median(values) for what, values in figures[engine.name].items()},
            "RSS MB": engine.rss_mb,
        }
        for engine in engines
    }
    for engine in engines:
        await engine.backend.close()  # type: ignore[attr-defined]
    columns = list(found["llamacpp"])
    rows = [(name, *(f"{row[c]:.0f}" for c in columns)) for name, row in found.items()]
    print(f"\n## {asked.gguf.stem}, {asked.threads} thread(s), medians of {asked.rounds} rounds\n")
    print(table(("engine", *columns), rows))
    print(f"\n{write('engines', {'machine': machine(), 'engines': found})}")


async def llama(gguf: Path, threads: int) -> Engine:
    before, row = rss_mb(os.getpid()), config("llamacpp", gguf)
    spec = spec_of(row, features=frozenset(), version="v")
    backend = await LlamaCpp.load(spec, gguf, row, threads)
    return Engine("llamacpp", backend, rss_mb(os.getpid()) - before, time.process_time)


async def genai(folder: Path, threads: int) -> Engine:
    row = config("ortgenai", folder)
    spec = spec_of(row, features=frozenset(), version="v")
    backend = await OrtGenai.load(spec, folder, row, threads)
    pid = backend.pid
    assert pid is not None
    return Engine("ortgenai", backend, rss_mb(pid), lambda: cpu_s(pid))


def config(engine: str, model: Path) -> EdgeBackendConfig:
    return EdgeBackendConfig(
        name=engine, engine=engine, model=str(model), slots=1, context_tokens=2048
    )


async def measured(engine: Engine) -> dict[str, float]:
    """Tokens a second, of the prompt and of the answer, by the clock and by processor time."""
    prompt = " ".join(random.choices(WORDS, k=PROMPT_WORDS))  # none that a cache may know
    began, cpu = time.perf_counter(), engine.cpu_s()
    first = first_cpu = 0.0
    count = prompt_tokens = 0
    async for event in engine.backend.answer(call(f"{prompt}\nWrite a long story about this.")):
        if event.text and not first:
            first, first_cpu = time.perf_counter(), engine.cpu_s()
        if event.usage is not None:
            prompt_tokens, count = event.usage.prompt_tokens, event.usage.completion_tokens
    end, end_cpu = time.perf_counter(), engine.cpu_s()
    return {
        "prefill tok/s": prompt_tokens / (first - began),
        "decode tok/s": (count - 1) / (end - first),
        "prefill tok/CPU s": prompt_tokens / max(1 / TICKS, first_cpu - cpu),
        "decode tok/CPU s": (count - 1) / max(1 / TICKS, end_cpu - first_cpu),
    }


def call(text: str) -> Call:
    body = {
        "messages": [{"role": "user", "content": text}],
        "temperature": 0,
        "max_tokens": ANSWER_TOKENS,
    }
    request = Request("r", "auto", (), body, stream=True, max_tokens=ANSWER_TOKENS)
    return Call(request, Deadline.after(600, SystemClock()))


def rss_mb(pid: int) -> float:
    (line,) = (
        line
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        if line.startswith("VmRSS")
    )
    return int(line.split()[1]) / 1000


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    asyncio.run(main())

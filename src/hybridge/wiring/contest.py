"""The engines that can run a local LLM here, to be timed against each other."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.edge.llm_bench import Contestant
from hybridge.edge.threads import cores

CONTEXT_TOKENS = 1024


def contestants(weights: Path) -> list[Contestant]:
    """Every engine that reads these weights, on one core, on all but one, and on all."""
    threads = sorted({1, max(1, cores() - 1), cores()})
    return [Contestant("llamacpp", n, partial(_llamacpp, weights, n)) for n in threads]


async def _llamacpp(weights: Path, threads: int) -> LlamaCpp:
    row = EdgeBackendConfig(
        name="bench", model=str(weights), context_tokens=CONTEXT_TOKENS, slots=1, threads=threads
    )
    spec = spec_of(row, features=frozenset(), version="bench")
    return await LlamaCpp.load(spec, weights, row, threads)

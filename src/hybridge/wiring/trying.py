"""Whether a configured model of engine `ortgenai` can serve: it is loaded, asked, and freed."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hybridge.core.clock import SystemClock
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.ortgenai import OrtGenai
from hybridge.settings import Settings
from hybridge.wiring.local import expected, is_path, thread_shares, weights_in
from hybridge.wiring.model_library import model_library
from hybridge.wiring.proving import prove


async def try_ortgenai(row: EdgeBackendConfig, settings: Settings) -> float:
    """Seconds from nothing to its first words. Raises `ModelError`: the extra or a file is missing,
    it cannot be loaded, or it says nothing. Without a model in the store that is in force as well.
    """
    clock = SystemClock()
    started_s = clock.monotonic()
    folder = await asyncio.to_thread(_folder, row, settings)
    threads = row.threads or thread_shares(settings).llm
    engine = await OrtGenai.load(expected(row), folder, row, threads)
    try:
        await prove(engine, clock)
    finally:
        await engine.close()
    return clock.monotonic() - started_s


def _folder(row: EdgeBackendConfig, settings: Settings) -> Path:
    if is_path(row.model):
        return Path(row.model)
    versions = model_library(settings)
    return weights_in(versions.bring(row.model, versions.active(row.model)), row)

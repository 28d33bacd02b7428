"""Real weights, where they are."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.edge.local_model import Opened, loaded

from hybridge import wiring
from hybridge.edge.llamacpp import LlamaCpp
from hybridge.settings import load

NAME = "smollm2-135m"


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The smallest model; fetched in CI, and elsewhere when somebody has asked for it."""
    settings = load(None, os.environ)
    if wiring.model_store(settings).path(NAME) is None and not os.environ.get("CI"):
        pytest.skip(f"no weights here: `hybridge models pull {NAME}` fetches 98 MB")
    return wiring.fetcher(settings).ensure(NAME)


@pytest.fixture
def opened(smollm2: Path) -> Opened:
    """`async with opened(slots=…, …) as backend`."""

    @asynccontextmanager
    async def load(**config: Any) -> AsyncIterator[LlamaCpp]:
        backend = await loaded(smollm2, **config)
        try:
            yield backend
        finally:
            await backend.close()

    return load

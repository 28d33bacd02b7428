"""What every test may rely on."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.redis_server import RedisServer

# A shared machine can stand still for a moment: no example is judged by its time.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def anyio_backend() -> str:
    """The gateway runs on asyncio only."""
    return "asyncio"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is, a Redis that does answer, or refuse, is waited for."""
    monkeypatch.setattr("hybridge.storage.redis_store.TIMEOUT_S", 10.0)


@pytest.fixture
async def redis(tmp_path: Path, patient: None) -> AsyncIterator[RedisServer]:
    """A real Redis of the test's own. Where its program is missing CI fails, and others skip."""
    from tests.redis_server import PROGRAM, RedisServer  # the clients' environment has no library

    if shutil.which(PROGRAM) is None and not os.environ.get("CI"):
        pytest.skip(f"{PROGRAM} is not installed")
    async with RedisServer(tmp_path) as server:
        yield server

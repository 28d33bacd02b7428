"""Started gateways for tests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.integration.running import Pair, Running, between, running

Start = Callable[..., AbstractAsyncContextManager[Running]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts `hybridge serve` with a configuration, and stops it."""
    return partial(running, tmp_path)


@pytest.fixture
def pair(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Pair]]:
    """A gateway with two fake upstreams; takes sections of the configuration by name."""

    def opened(**config: Any) -> AbstractAsyncContextManager[Pair]:
        return between(tmp_path, config)

    return opened

"""What every test may rely on."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The gateway runs on asyncio only."""
    return "asyncio"

"""What every test may rely on."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A shared machine can stand still for a moment: no example is judged by its time.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def anyio_backend() -> str:
    """The gateway runs on asyncio only."""
    return "asyncio"

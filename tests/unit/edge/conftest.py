"""Real weights, where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hybridge import wiring
from hybridge.settings import load

NAME = "smollm2-135m"


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The smallest model; fetched in CI, and elsewhere when somebody has asked for it."""
    settings = load(None, os.environ)
    if wiring.model_store(settings).path(NAME) is None and not os.environ.get("CI"):
        pytest.skip(f"no weights here: `hybridge models pull {NAME}` fetches 98 MB")
    return wiring.fetcher(settings).ensure(NAME)

"""Tests of what an extra brings: skipped where it is not installed, except in CI."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


def needed(package: str, extra: str) -> None:
    """For the top of a module of tests."""
    if find_spec(package) is None:
        reason = f'needs pip install "hybridge[{extra}]"'
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)

"""What the cases share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
WAIT_S = 30.0


async def until(holds: Callable[[], Any], what: str = "the condition") -> Any:
    """Waits until something holds, and gives it."""
    for _ in range(int(WAIT_S / 0.05)):
        if found := holds():
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"{what} did not come true")


def port_of(gateway: Any) -> int:
    """The port that a started gateway listens on."""
    return int(gateway.url.rpartition(":")[2])


def chat(text: str = "Hello!", **members: Any) -> dict[str, Any]:
    """A chat request's body."""
    return {"model": "auto", "messages": [{"role": "user", "content": text}], **members}

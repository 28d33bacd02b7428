"""What the cases share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hybridge.testing.replies import Received, Reply, Step

BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
BACKENDS = pytest.mark.parametrize("model", ["e", "c"], ids=["edge", "cloud"])
"""By the names that `scene` and `pair` give them."""
PATIENT = {"breaker_failures": 1000, "breaker_window": 1000}
"""Section `execution` for backends that are to fail without being left alone for it."""
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


class Held:
    """A reply that hangs until it is let go."""

    def __init__(self, reply: Reply) -> None:
        self.free = False
        self._reply = reply

    def __call__(self, received: Received) -> Iterator[Step]:
        while not self.free:
            yield 0.02
        yield from self._reply(received)

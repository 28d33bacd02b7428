"""Shutting down without cutting anybody short (R85)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from hybridge.core.errors import NotServed
from hybridge.server.exchange import Exchange
from hybridge.server.line import Line

CODE = "shutting_down"


class Drain:
    """The requests under way, and whether new ones are still taken."""

    def __init__(self) -> None:
        self.begun = False
        """Once true, new work is refused."""
        self._lines: set[Line] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def __len__(self) -> int:
        """How many requests are under way."""
        return len(self._lines)

    @contextmanager
    def admit(self, exchange: Exchange) -> Iterator[None]:
        """Around one request. Raises `NotServed` when draining or cut, `Gone` on a hang-up."""
        if self.begun:
            raise closing()
        line = Line(exchange.receive)
        self._lines.add(line)
        self._idle.clear()
        try:
            with line:
                yield
        finally:
            self._lines.discard(line)
            if not self._lines:
                self._idle.set()

    def begin(self) -> None:
        """From now on no new work is taken."""
        self.begun = True

    async def idle(self, within_s: float) -> bool:
        """Waits until nothing is under way; false when that takes longer than `within_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._idle.wait()
        return not self._lines

    def cut(self) -> None:
        """Ends what is still under way; a stream then closes with an error event."""
        for line in tuple(self._lines):
            line.cut(closing())


def closing() -> NotServed:
    """What a caller is told who comes too late."""
    return NotServed("this gateway is shutting down; try again", retry_after_s=1.0, code=CODE)

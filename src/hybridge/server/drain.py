"""Shutting down without cutting anybody short (R85)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from math import inf

from hybridge.core.errors import BackendError, Fault, NotServed
from hybridge.server.exchange import Exchange
from hybridge.server.line import Line
from hybridge.server.pulse import Pulse
from hybridge.server.terms import Terms

CODE = "shutting_down"
LOOK_S = 0.1
"""How often requests under way are looked at; one seen twice is watched for a hang-up."""


class Drain:
    """The requests under way, and whether new ones are still taken."""

    def __init__(self, terms: Terms, longest_s: float = inf) -> None:
        """`longest_s`: what is under way for longer is ended. Backends keep the deadline of a
        request themselves; this is for one that does not, and for a caller that does not read."""
        self._terms = terms
        self._longest_s = longest_s
        self.begun = False
        """Once true, new work is refused."""
        self._lines: set[Line] = set()
        self._looking: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        """How many requests are under way."""
        return len(self._lines)

    def admit(self, exchange: Exchange) -> Line:
        """To be held around one request, from before its body is read.

        Raises `NotServed` when draining; so does the block when it is cut, and `Gone` on a hang-up.
        """
        if self.begun:
            raise closing()
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        if self._looking is None:
            self._looking = self._loop.call_later(LOOK_S, self._look)
        pulse = Pulse(exchange, self._terms, self._loop.time())
        return Line(exchange, pulse, self._lines, self._loop)

    def begin(self) -> None:
        """From now on no new work is taken."""
        self.begun = True

    async def idle(self, within_s: float) -> bool:
        """Waits until nothing is under way; false when that takes longer than `within_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self._lines:  # noqa: ASYNC110 - an event would be set for every request
                    await asyncio.sleep(LOOK_S / 5)
        return not self._lines

    def cut(self) -> None:
        """Ends what is still under way; a stream then closes with an error event."""
        for line in tuple(self._lines):
            line.cut(closing())

    def _look(self) -> None:
        self._looking = None
        if self._loop is None:
            return
        now_s = self._loop.time()
        overdue_s = now_s - self._longest_s
        for line in self._lines:
            line.look(now_s)
            if line.since_s < overdue_s and line.working:
                line.cut(_overdue())
        if self._lines:
            self._looking = self._loop.call_later(LOOK_S, self._look)


def closing() -> NotServed:
    """What a caller is told who comes too late."""
    return NotServed("this gateway is shutting down; try again", retry_after_s=1.0, code=CODE)


def _overdue() -> BackendError:
    return BackendError("the answer took longer than its deadline", backend="", fault=Fault.TIMEOUT)

"""Who may compute now: a bounded, fair queue in front of a few slots."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from hybridge.core.clock import Deadline
from hybridge.core.errors import BackendError, Fault

BUSY_RETRY_S = 1.0


class Slots:
    """Gives out `count` slots in the order of asking; at most `queue` may wait for one."""

    def __init__(self, count: int, queue: int, *, backend: str) -> None:
        self._free = count
        self._queue = queue
        self._backend = backend
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def take(self, deadline: Deadline) -> None:
        """Returns with a slot. Raises `BackendError`: BUSY when the queue is full, or TIMEOUT."""
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        if len(self._waiting) >= self._queue:
            raise BackendError(
                f"{self._backend} is busy and {self._queue} requests wait already",
                backend=self._backend,
                fault=Fault.BUSY,
                retry_after_s=BUSY_RETRY_S,
            )
        await self._wait(deadline)

    def give_back(self) -> None:
        """Hands the slot to whoever has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    async def _wait(self, deadline: Deadline) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(deadline.remaining_s):
                await turn
        except BaseException as error:
            self._withdraw(turn)
            if isinstance(error, TimeoutError):
                raise BackendError(
                    f"{self._backend} had no free slot in time",
                    backend=self._backend,
                    fault=Fault.TIMEOUT,
                ) from error
            raise

    def _withdraw(self, turn: asyncio.Future[None]) -> None:
        with suppress(ValueError):
            self._waiting.remove(turn)
        if turn.done() and not turn.cancelled():
            self.give_back()  # the slot came in the very moment of giving up

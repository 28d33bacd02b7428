"""One generation of a local engine: a thread that computes, and the loop that listens to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from hybridge.core.clock import Deadline

Work = Callable[[Callable[[str], bool]], None]
"""Blocking; calls back with each piece of JSON, and stops when the callback says True."""


class Generation:
    """Runs blocking work in a thread and hands its pieces to the event loop.

    `stop` makes the work end at its next piece. `finished` is done when the thread is free again.
    """

    def __init__(self, work: Work, executor: Executor) -> None:
        self._loop = asyncio.get_running_loop()
        self._said: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        self._work = work
        self.stopped = False
        """Whether somebody ended it; then nothing more is handed over."""
        self.finished = self._loop.run_in_executor(executor, self._compute)

    def stop(self) -> None:
        """Ends the work between two pieces."""
        self.stopped = True

    async def next(self, deadline: Deadline) -> str | None:
        """The next piece, or None at the end. Raises `TimeoutError`, or what the work raised."""
        async with asyncio.timeout(deadline.remaining_s):
            said = await self._said.get()
        if not isinstance(said, str):
            await self.finished  # it was the thread's last word
        if isinstance(said, Exception):
            raise said
        return said

    def _compute(self) -> None:
        end: Exception | None = None
        try:
            if not self.stopped:
                self._work(self._on_piece)
        except Exception as error:  # it belongs to whoever listens
            end = error
        self._hand_over(end)

    def _on_piece(self, piece: str) -> bool:
        if not self.stopped:
            self._hand_over(piece)
        return self.stopped

    def _hand_over(self, said: str | Exception | None) -> None:
        self._loop.call_soon_threadsafe(self._said.put_nowait, said)

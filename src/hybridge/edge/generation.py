"""One generation of a local engine: a thread that computes, and the loop that listens to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor

Said = str | BaseException | None
"""A piece of JSON, what went wrong, or None at the end."""
Work = Callable[[Callable[[str], bool]], None]
"""Blocking; calls back with each piece, and stops when the callback says True."""


class Generation:
    """Runs blocking work in a thread and hands its pieces to the event loop.

    `stop` makes the work end at its next piece. `finished` is done when the thread is free again.
    """

    def __init__(self, work: Work, executor: Executor) -> None:
        self._loop = asyncio.get_running_loop()
        self._said: asyncio.Queue[Said] = asyncio.Queue()
        self._stopped = False
        self._work = work
        self.finished = self._loop.run_in_executor(executor, self._compute)

    def stop(self) -> None:
        """Ends the work between two pieces; nothing more is handed over."""
        self._stopped = True

    async def pieces(self) -> AsyncIterator[str]:
        """Each piece as it comes. Raises what the work raised."""
        while (said := await self._said.get()) is not None:
            if isinstance(said, BaseException):
                raise said
            yield said

    def _compute(self) -> None:
        end: Said = None
        try:
            if not self._stopped:
                self._work(self._on_piece)
        except Exception as error:  # it belongs to whoever listens
            end = error
        self._loop.call_soon_threadsafe(self._said.put_nowait, end)

    def _on_piece(self, piece: str) -> bool:
        if not self._stopped:
            self._loop.call_soon_threadsafe(self._said.put_nowait, piece)
        return self._stopped

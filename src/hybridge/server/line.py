"""The line to a caller from its first word to ours: it can go dead, or be cut by us."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from hybridge.server.exchange import Exchange, Gone
from hybridge.server.pulse import Pulse


class Line:
    """Around one request. Ends the work on it when the caller hangs up or `cut` is called.

    The work's task is cancelled, so that whatever it holds is given back at once; leaving the block
    turns that cancellation into `Gone`, or into the reason given to `cut`.
    """

    def __init__(
        self, exchange: Exchange, pulse: Pulse, lines: set[Line], loop: asyncio.AbstractEventLoop
    ) -> None:
        """As long as the block lasts it is one of `lines`."""
        self._loop = loop
        self._exchange = exchange
        self._pulse = pulse
        self._lines = lines
        self.since_s = loop.time()
        """When it began, and from `answer` on when the work did; on the loop's clock."""
        self._why: Exception | None = None
        self._seen = False
        self._watcher: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        task = asyncio.current_task(self._loop)
        if task is None:
            raise RuntimeError("a line is held by a task")
        self._task = task
        self._cancelling = task.cancelling()
        self._lines.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lines.discard(self)
        if self._watcher is not None:
            self._watcher.cancel()
        why, self._why = self._why, None
        if why is None:
            return
        still_ours = self._task.uncancel() <= self._cancelling
        if still_ours and kind is not None and issubclass(kind, asyncio.CancelledError):
            try:
                raise why from error
            finally:
                del why, error  # the error knows this frame: only the collector would free them

    def answer(self, *, stream: bool = False) -> None:
        """The request is read, and the work begins; `stream`: its answer comes as events."""
        self.since_s = self._loop.time()
        self._pulse.answer(self.since_s, stream=stream)

    @property
    def working(self) -> bool:
        """Whether the request is read."""
        return not self._pulse.arriving

    def look(self, now_s: float) -> None:
        """Called now and then; from the second time on a caller who waits is watched.

        What is done sooner is not: the watching would cost more than it could save.
        """
        if self.working:
            if self._seen and self._watcher is None:
                self._watcher = self._loop.create_task(self._watch())
            self._seen = True
        why = self._pulse.look(now_s)
        if why is not None:
            self.cut(why)

    def cut(self, why: Exception) -> None:
        """Ends the work; the block then raises `why`."""
        if self._why is None:
            self._why = why
            self._task.cancel()

    async def _watch(self) -> None:
        with suppress(asyncio.CancelledError):
            while (await self._exchange.receive())["type"] != "http.disconnect":
                pass
            if not self._exchange.over:  # a complete answer is told in the same way
                self.cut(Gone())

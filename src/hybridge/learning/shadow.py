"""The bounds of shadow work (R4): how much may wait, how much runs, what it may cost a day."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal

from hybridge.core.clock import Clock
from hybridge.core.events import Events, ShadowDropped
from hybridge.learning.config import LearningConfig

Job = Callable[[], Awaitable[None]]

_log = logging.getLogger("hybridge.shadow")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Work that was let in."""

    request_id: str
    job: Job
    on_drop: Callable[[], None]


class Shadow:
    """A bounded queue of comparisons. Whatever is over a bound is dropped, and counted.

    It runs in tasks of its own: no comparison delays or fails a reply, nor another comparison.
    """

    def __init__(self, config: LearningConfig, clock: Clock, events: Events) -> None:
        self._config = config
        self._clock = clock
        self._events = events
        self._waiting: deque[Comparison] = deque()
        self._running: dict[asyncio.Task[None], Comparison] = {}
        self._closed = False
        self._spent_usd = Decimal(0)
        self._day = clock.now().date()

    def submit(
        self,
        request_id: str,
        job: Job,
        *,
        on_drop: Callable[[], None] = lambda: None,
        cost_usd: Decimal = Decimal(0),
    ) -> bool:
        """Starts a comparison, or queues it; False when it is over a bound.

        `cost_usd` is what it may cost beyond the request itself; it counts for the day from here
        on. `on_drop` is called when it had been let in and is dropped all the same, which happens
        only on closing.
        """
        if (reason := self._over(cost_usd)) is not None:
            self._events.emit(ShadowDropped(request_id, reason))
            return False
        self._spent_usd += cost_usd
        self._waiting.append(Comparison(request_id, job, on_drop))
        self._start_next()
        return True

    async def close(self) -> None:
        """Drops what waits, stops what runs, and returns when nothing runs any more."""
        self._closed = True
        for comparison in (*self._waiting, *self._running.values()):
            self._events.emit(ShadowDropped(comparison.request_id, "closing"))
            comparison.on_drop()
        self._waiting.clear()
        stopping = list(self._running)
        for task in stopping:
            task.cancel()
        await asyncio.gather(*stopping, return_exceptions=True)

    def _over(self, cost_usd: Decimal) -> str | None:
        """The bound that one more would break."""
        if self._closed:
            return "closing"
        busy = len(self._running) >= self._config.shadow_concurrency
        if busy and len(self._waiting) >= self._config.shadow_queue:
            return "queue_full"
        self._begin_day()
        if cost_usd and self._spent_usd + cost_usd > self._config.shadow_daily_usd:
            return "budget"
        return None

    def _begin_day(self) -> None:
        today = self._clock.now().date()
        if today != self._day:
            self._day, self._spent_usd = today, Decimal(0)

    def _start_next(self) -> None:
        while self._waiting and len(self._running) < self._config.shadow_concurrency:
            comparison = self._waiting.popleft()
            task = asyncio.create_task(self._run(comparison), name="shadow")
            self._running[task] = comparison
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        if not self._closed:
            self._start_next()

    async def _run(self, comparison: Comparison) -> None:
        try:
            await comparison.job()
        except Exception:  # one broken comparison must not stop the others
            _log.exception("the comparison of %s failed", comparison.request_id)

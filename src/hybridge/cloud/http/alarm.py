"""One timer for many limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf

_RESOLUTION_S = 0.001
"""uvloop's timers and its clock count in milliseconds."""


class Alarm:
    """Calls `ring` at the time last set, on the loop's clock.

    Setting it to a later time costs a comparison: the timer that is already running looks, when it
    fires, whether it is time. Nearly every limit is lifted long before it passes.
    """

    __slots__ = ("_at", "_fires_at", "_loop", "_ring", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._at = inf
        self._fires_at = inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, at: float) -> None:
        """Rings at `at` and no other time."""
        self._at = at
        if at < self._fires_at:
            self._start()

    def clear(self) -> None:
        """Does not ring."""
        self._at = inf

    def close(self) -> None:
        """Does not ring, and leaves no timer behind."""
        self._at = self._fires_at = inf
        self._ring = _nothing  # whoever was to be called keeps this one
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fires_at = self._at
        self._timer = self._loop.call_later(max(0.0, self._at - self._loop.time()), self._fired)

    def _fired(self) -> None:
        self._timer = None
        self._fires_at = inf
        if self._at == inf:
            return
        if self._at - self._loop.time() > _RESOLUTION_S:
            self._start()
            return
        self._at = inf
        self._ring()


def _nothing() -> None:
    """Rings nowhere."""

"""How much was taken in the last minute, exactly: not per calendar minute, not on average."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW_S = 60.0
"""What "per minute" means: any 60 seconds, whenever they begin."""


@dataclass(slots=True)
class Taken:
    """What one request took."""

    at_s: float
    amount: int
    over: bool = False
    """Whether it is older than the window, so that it does not count any more."""


class Window:
    """A limit on what may be taken in any 60 seconds. Times are on the clock's monotonic scale.

    Every taking is remembered until it is a minute old (a sliding log), so no burst at the turn of
    a minute passes twice the limit. Memory is bounded: each of them takes at least 1.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._taken: deque[Taken] = deque()
        self._used = 0

    def wait_s(self, amount: int, now: float) -> float:
        """Seconds until `amount` can be taken; 0 when it can be taken now.

        What is larger than the whole limit can be taken by a request that has the window to
        itself: it could never be taken else.
        """
        self._forget(now)
        excess = self._used + amount - self.limit
        if excess <= 0 or not self._used:
            return 0.0
        for taken in self._taken:
            excess -= taken.amount
            if excess <= 0:
                return taken.at_s + WINDOW_S - now
        return self.free_in_s(now)

    def take(self, amount: int, now: float) -> Taken:
        """Takes it, whether or not there is room."""
        taken = Taken(now, amount)
        self._taken.append(taken)
        self._used += amount
        return taken

    def correct(self, taken: Taken, amount: int) -> None:
        """What had been estimated is known now; at least 1, so that memory stays bounded."""
        amount = max(1, amount)
        if not taken.over:
            self._used += amount - taken.amount
            taken.amount = amount

    def left(self, now: float) -> int:
        """What can still be taken now."""
        self._forget(now)
        return max(0, self.limit - self._used)

    def free_in_s(self, now: float) -> float:
        """Seconds until nothing counts any more; 0 when nothing does now."""
        self._forget(now)
        return self._taken[-1].at_s + WINDOW_S - now if self._taken else 0.0

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0].at_s + WINDOW_S <= now:
            gone = self._taken.popleft()
            gone.over = True
            self._used -= gone.amount

"""The mean of late, and of the time before it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice

from msgspec import Struct

SLOTS = 5
"""Into how many parts the late time is cut: it moves on by one of them at a time."""


class Mean(Struct, frozen=True):
    """A mean, and of how many."""

    count: int
    total: float

    @property
    def value(self) -> float:
        return self.total / self.count


class Means(Struct, frozen=True):
    """Two means to compare."""

    late: Mean
    before: Mean


@dataclass(slots=True)
class _Slot:
    number: int
    count: int = 0
    total: float = 0.0


class Moving:
    """Adds up values in slots of time; one more, or a look, costs the same for any number."""

    def __init__(self, late_s: float, before_s: float) -> None:
        """The late time ends now; what is compared with it ends where it begins."""
        self._slot_s = late_s / SLOTS
        self._kept = SLOTS + round(before_s / self._slot_s)
        self._slots: deque[_Slot] = deque()
        self._count = 0
        self._total = 0.0

    def add(self, value: float, now_s: float) -> None:
        """One more value, of now."""
        number = int(now_s // self._slot_s)
        if not self._slots or self._slots[-1].number != number:
            self._slots.append(_Slot(number))
            self._forget(number)
        slot = self._slots[-1]
        slot.count += 1
        slot.total += value
        self._count += 1
        self._total += value

    def means(self, now_s: float) -> Means:
        """As of now."""
        number = int(now_s // self._slot_s)
        self._forget(number)
        latest = islice(reversed(self._slots), SLOTS)
        late = [slot for slot in latest if slot.number > number - SLOTS]
        count, total = sum(slot.count for slot in late), sum(slot.total for slot in late)
        return Means(Mean(count, total), Mean(self._count - count, self._total - total))

    def _forget(self, number: int) -> None:
        """Lets go of slots that are older than both times."""
        while self._slots and self._slots[0].number <= number - self._kept:
            old = self._slots.popleft()
            self._count -= old.count
            self._total -= old.total

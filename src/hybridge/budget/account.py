"""One limit on money over one period."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

ZERO = Decimal(0)


class Period(StrEnum):
    """What a limit is for. Both begin at 00:00 UTC."""

    DAY = "daily"
    MONTH = "monthly"

    def begin(self, now: datetime) -> datetime:
        """When the period that holds `now` began."""
        day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return day if self is Period.DAY else day.replace(day=1)

    def end(self, now: datetime) -> datetime:
        """When the next one begins."""
        begin = self.begin(now)
        if self is Period.DAY:
            return begin + timedelta(days=1)
        return (begin + timedelta(days=31)).replace(day=1)


@dataclass(slots=True)
class Account:
    """Money spent and promised in the current period."""

    period: Period
    limit: Decimal | None
    """USD per period; None: no limit."""
    owner: str | None = None
    """Name of the API key; None: all of them."""
    spent: Decimal = ZERO
    assumed: Decimal = ZERO
    """The part of `spent` that was assumed, for want of a price."""
    reserved: Decimal = ZERO
    """Promised to requests under way; outlives the period, since they do."""
    _since: datetime | None = None
    _until: datetime | None = None

    def roll(self, now: datetime) -> None:
        """Begins anew when the period is over."""
        if self._since is None or self._until is None or not self._since <= now < self._until:
            self._since, self._until = self.period.begin(now), self.period.end(now)
            self.spent = self.assumed = ZERO

    def used_up(self, now: datetime) -> bool:
        """Whether all of it is spent, so that nothing helps but the next period."""
        self.roll(now)
        return self.limit is not None and self.spent >= self.limit

    def refusal(self, amount: Decimal, now: datetime) -> str | None:
        """Why `amount` cannot be promised now; None when it can.

        A request that is alone may use up what is left although it might cost more: estimates are
        high, and else a small budget would refuse everybody with nothing spent. So a limit is
        overrun by one request at most.
        """
        if self.limit is None:
            return None
        self.roll(now)
        if self.spent + self.reserved + amount <= self.limit:
            return None
        if self.spent < self.limit and not self.reserved:
            return None
        whose = f" of key `{self.owner}`" if self.owner else ""
        state = "spent" if self.spent >= self.limit else "promised to requests under way"
        return (
            f"{self.period.value} budget{whose} of {self.limit.normalize():f} USD is {state}; "
            f"resets at {self.period.end(now):%Y-%m-%dT%H:%MZ}"
        )

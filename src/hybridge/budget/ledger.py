"""Money: promised before a request runs, settled after it (R61).

The books are kept in this process's memory; `snapshot` and `restore` carry them over a restart.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Self

from msgspec import Struct

from hybridge.budget.account import ZERO, Account, Period
from hybridge.budget.config import BudgetConfig
from hybridge.core.backend import Price
from hybridge.core.clock import Clock
from hybridge.core.errors import BudgetExhausted

PROMISED_RETRY_S = 1.0
"""When to try again where money is only promised: nobody knows when some of it comes back."""
JUDGE = "learning.judge"
"""The owner of what it costs to have comparisons judged: of a limit, and of no API key."""
_log = logging.getLogger("hybridge.budget")


class Spend(Struct, frozen=True):
    """The state of one limit, in USD."""

    period: Period
    owner: str | None
    """Name of the API key; None: all of them."""
    spent: Decimal
    reserved: Decimal
    limit: Decimal | None
    assumed: Decimal = ZERO
    """The part of `spent` that was assumed, for want of a price."""

    @property
    def left(self) -> Decimal | None:
        """What may still be promised; None where there is no limit."""
        return None if self.limit is None else max(ZERO, self.limit - self.spent - self.reserved)


class LedgerStatus(Struct, frozen=True):
    """The state of all limits."""

    spends: tuple[Spend, ...]
    """All keys together per day and per month, then each key that has spent or has a limit."""
    unknown: int
    """Requests since the start whose cost nobody knows."""


class Reservation:
    """Money promised to one request. As a block, it gives back at its end what was not settled."""

    __slots__ = ("_ledger", "_on", "_settled", "_tenant", "amount")

    def __init__(
        self, ledger: Ledger, tenant: str, amount: Decimal | None, on: tuple[Account, ...]
    ) -> None:
        """`on`: where it is promised."""
        self._ledger = ledger
        self._tenant = tenant
        self._on = on
        self._settled = False
        self.amount = amount
        """USD; None: the price is unknown."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def settle(self, actual: Decimal | None, *, assumed: Decimal | None = None) -> None:
        """Says what the request cost, once; later calls change nothing.

        None: nobody knows. Then what is `assumed` counts as spent, else what was promised, for
        nothing is silently free.
        """
        if self._settled:
            return
        self._settled = True
        amount = self.amount
        for account in self._on:
            account.reserved -= amount or ZERO
        if actual is not None:
            if actual:
                self._ledger.spend(self._tenant, actual)
            return
        self._ledger.spend_unknown(self._tenant, amount or ZERO if assumed is None else assumed)

    def release(self) -> None:
        """Gives the money back, unless it has been settled."""
        self.settle(ZERO)


class _Book(Struct, frozen=True):
    """The accounts that one key's money goes through."""

    every: tuple[Account, ...]
    limited: tuple[Account, ...]


class Ledger:
    """The books of all keys. Nothing in it awaits, so no two requests see the same money."""

    def __init__(
        self, config: BudgetConfig, tenants: Mapping[str, Decimal | None], clock: Clock
    ) -> None:
        self._clock = clock
        self._everyone = (
            Account(Period.DAY, config.daily_usd),
            Account(Period.MONTH, config.monthly_usd),
        )
        self._books: dict[str, _Book] = {}
        self._assumed = _assumed(config)
        self._own = {name: Account(Period.DAY, limit, name) for name, limit in tenants.items()}
        self._since = self._until = datetime.min.replace(tzinfo=UTC)
        """The day that all accounts have been rolled to."""
        self._unknown = 0
        self._warned = False

    def limit(self, config: BudgetConfig, tenants: Mapping[str, Decimal | None]) -> None:
        """From now on these limits hold; what was spent and promised stays."""
        fresh = Ledger(config, tenants, self._clock)
        for account, other in zip(self._everyone, fresh._everyone, strict=True):
            account.limit = other.limit
        for name, account in self._own.items():
            account.limit = tenants.get(name)
        self._own = fresh._own | self._own
        self._since = self._until  # those that are new are rolled with all others
        self._books.clear()
        self._assumed = fresh._assumed

    def reserve(self, tenant: str, amount: Decimal | None) -> Reservation:
        """Promises `amount` USD; whatever is not settled goes back when it is released.

        None (unknown price) is let through and counted. Raises `BudgetExhausted`, and `ValueError`
        for a negative amount.
        """
        if amount is not None and amount < 0:
            raise ValueError("a reservation cannot be negative")
        refusal = self.refusal(tenant, amount)
        if refusal is not None:
            now = self._now()
            spent = any(account.used_up(now) for account in self._book(tenant).every)
            wait_s = self.resets_in_s(tenant) if spent else PROMISED_RETRY_S
            raise BudgetExhausted(refusal, retry_after_s=wait_s)
        if amount is None:
            self._warn(tenant)
        return self._promise(tenant, amount, self._book(tenant).limited if amount else ())

    def reserve_amply(self, tenant: str, amount: Decimal, times: int) -> Reservation | None:
        """The same, where so many times the amount is left everywhere; else nothing is done."""
        self._now()
        limited = self._book(tenant).limited
        ample = amount * times
        for account in limited:
            if account.spent + account.reserved + ample > account.limit:  # type: ignore[operator]
                return None
        return self._promise(tenant, amount, limited)

    def limits(self, tenant: str) -> bool:
        """Whether any limit applies to a tenant. Where none does, no promise needs an amount."""
        return bool(self._book(tenant).limited)

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all for requests, of everybody or of one key."""
        accounts = (*self._everyone, *self._own.values())
        return any(one.limit is not None and one.owner != JUDGE for one in accounts)

    def counted(self, price: Price | None) -> Price | None:
        """What a cloud is counted at: its price, else the one that is assumed, if one is."""
        return self._assumed if price is None else price

    def refusal(self, tenant: str, amount: Decimal | None) -> str | None:
        """Why `amount` would be refused now, in words; None when it would not.

        What costs nothing is never refused, nor is what nobody knows the price of.
        """
        if not amount:
            return None
        now = self._now()
        for account in self._book(tenant).limited:
            refusal = account.refusal(amount, now)
            if refusal is not None:
                return refusal
        return None

    def resets_in_s(self, tenant: str | None = None) -> float:
        """Seconds until every limit that is used up now begins anew; until midnight if none is."""
        now = self._now()
        accounts = self._everyone if tenant is None else self._book(tenant).every
        ends = [Period.DAY.end(now)]
        ends += [account.period.end(now) for account in accounts if account.used_up(now)]
        return (max(ends) - now).total_seconds()

    def status(self) -> LedgerStatus:
        """The state of all limits, as of now."""
        self._now()
        spends = [
            Spend(each.period, each.owner, each.spent, each.reserved, each.limit, each.assumed)
            for each in (*self._everyone, *self._own.values())
            if each.owner is None or each.limit is not None or each.spent
        ]
        return LedgerStatus(tuple(spends), self._unknown)

    def snapshot(self) -> dict[str, Any]:
        """What was spent, as plain JSON values; promises are not part of it."""
        now = self._now()
        accounts = (*self._everyone, *self._own.values())
        rows = [[each.period.value, each.owner, str(each.spent)] for each in accounts]
        return {"at": now.isoformat(), "spent": rows, "unknown": self._unknown}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Takes up the books of a snapshot whose periods still run.

        Raises `KeyError` or `ValueError` where it is not one of ours.
        """
        now, then = self._now(), datetime.fromisoformat(snapshot["at"])
        for name, owner, spent in snapshot["spent"]:
            period = Period(name)
            if period.begin(then) == period.begin(now):
                self._account(period, owner).spent += Decimal(spent)
        self._unknown += int(snapshot["unknown"])

    def spend(self, tenant: str, amount: Decimal) -> None:
        """So much has been spent; what was promised for it has been given back."""
        self._now()
        for account in self._book(tenant).every:
            account.spent += amount

    def spend_unknown(self, tenant: str, assumed: Decimal) -> None:
        """Something has been spent, nobody knows how much."""
        self._unknown += 1
        if assumed:
            self._now()
            for account in self._book(tenant).every:
                account.spent += assumed
                account.assumed += assumed

    def _promise(self, tenant: str, amount: Decimal | None, on: tuple[Account, ...]) -> Reservation:
        for account in on:
            account.reserved += amount or ZERO
        return Reservation(self, tenant, amount, on)

    def _now(self) -> datetime:
        """The time. Every account is in its period of then: each ends at the end of a day."""
        now = self._clock.now()
        if not self._since <= now < self._until:
            self._since, self._until = Period.DAY.begin(now), Period.DAY.end(now)
            for account in (*self._everyone, *self._own.values()):
                account.roll(now)
        return now

    def _book(self, tenant: str) -> _Book:
        book = self._books.get(tenant)
        if book is None:
            every = (*self._everyone, self._account(Period.DAY, tenant))
            limited = tuple(account for account in every if account.limit is not None)
            book = self._books[tenant] = _Book(every, limited)
        return book

    def _account(self, period: Period, owner: str | None) -> Account:
        if owner is None:
            return self._everyone[0 if period is Period.DAY else 1]
        own = self._own.get(owner)
        if own is None:
            own = self._own[owner] = Account(Period.DAY, None, owner)
            own.roll(self._now())
        return own

    def _warn(self, tenant: str) -> None:
        if self.limits(tenant) and not self._warned:
            self._warned = True
            _log.warning(
                "a request to a model without a known price passes; no budget can count it. "
                "Give its backend a `price`"
            )


def _assumed(config: BudgetConfig) -> Price | None:
    price = config.assumed_price
    return Price(price.input_usd, price.output_usd) if config.unpriced == "assume" else None

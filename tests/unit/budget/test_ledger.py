"""Money cannot be overrun by parallel requests, and what was not spent comes back (R61)."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime
from decimal import Decimal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.budget.config import BudgetConfig
from hybridge.budget.ledger import PROMISED_RETRY_S, Ledger, Spend
from hybridge.core.errors import BudgetExhausted
from hybridge.testing.clock import ManualClock

ONE = Decimal(1)
DAY_S = 86_400.0


def ledger(
    daily: int | None = 5,
    monthly: int | None = None,
    tenants: dict[str, Decimal | None] | None = None,
    clock: ManualClock | None = None,
) -> Ledger:
    limits = BudgetConfig(
        daily_usd=None if daily is None else Decimal(daily),
        monthly_usd=None if monthly is None else Decimal(monthly),
    )
    return Ledger(limits, tenants or {}, clock or ManualClock())


def today(books: Ledger, owner: str | None = None) -> Spend:
    return next(s for s in books.status().spends if s.owner == owner)


async def spend(books: Ledger, amount: Decimal, tenant: str = "a") -> None:
    with books.reserve(tenant, amount) as reservation:
        reservation.settle(amount)


@pytest.mark.anyio
async def test_a_reservation_counts_until_it_is_settled() -> None:
    books = ledger()
    with books.reserve("a", Decimal(3)) as reservation:
        assert (today(books).reserved, today(books).spent) == (3, 0)
        reservation.settle(ONE)
        assert (today(books).reserved, today(books).spent) == (0, 1)
        reservation.settle(Decimal(4))
    assert (today(books).reserved, today(books).spent) == (0, 1)
    assert today(books, "a").spent == 1


@pytest.mark.anyio
async def test_what_was_not_settled_goes_back() -> None:
    books = ledger()
    with pytest.raises(RuntimeError):
        with books.reserve("a", ONE):
            raise RuntimeError
    assert (today(books).reserved, today(books).spent) == (0, 0)


@pytest.mark.anyio
async def test_a_cancelled_request_gives_its_money_back() -> None:
    books = ledger()

    async def hang() -> None:
        with books.reserve("a", ONE):
            await anyio.sleep_forever()

    task = asyncio.create_task(hang())
    await asyncio.sleep(0)
    assert today(books).reserved == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert today(books).reserved == 0


@pytest.mark.anyio
async def test_settling_after_a_stream_still_charges_nothing_twice() -> None:
    books = ledger()
    with books.reserve("a", ONE) as reservation:
        pass
    reservation.settle(ONE)
    assert (today(books).reserved, today(books).spent) == (0, 0)


@pytest.mark.anyio
async def test_parallel_requests_cannot_overrun_the_limit() -> None:
    books = ledger(daily=2)
    served = refused = 0
    gate = asyncio.Event()

    async def call() -> None:
        nonlocal served, refused
        try:
            with books.reserve("a", ONE) as reservation:
                await gate.wait()
                reservation.settle(ONE)
                served += 1
        except BudgetExhausted:
            refused += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(call())
        await asyncio.sleep(0)
        gate.set()
    assert (served, refused) == (2, 18)
    assert today(books).spent == 2


@pytest.mark.anyio
async def test_high_estimates_do_not_refuse_the_only_request() -> None:
    books = ledger(daily=1)
    for _ in range(50):
        with books.reserve("a", Decimal(7)) as reservation:
            assert books.refusal("a", Decimal(7)) is not None
            reservation.settle(Decimal("0.01"))
    assert today(books).spent == Decimal("0.50")


@pytest.mark.anyio
async def test_a_refusal_says_what_and_until_when() -> None:
    books = ledger()
    await spend(books, Decimal(5))
    refusal = books.refusal("a", ONE)
    assert refusal == "daily budget of 5 USD is spent; resets at 2030-01-02T00:00Z"
    with pytest.raises(BudgetExhausted, match="is spent") as error:
        with books.reserve("a", ONE):
            pytest.fail("no money, no entry")
    assert error.value.retry_after_s == DAY_S


@pytest.mark.anyio
async def test_money_that_is_only_promised_is_worth_a_try_soon() -> None:
    books = ledger()
    with books.reserve("a", Decimal(4)):
        with pytest.raises(BudgetExhausted, match="promised to requests under way") as error:
            books.reserve("a", Decimal(2))
        assert error.value.retry_after_s == PROMISED_RETRY_S
    books.reserve("a", Decimal(2)).release()


@pytest.mark.anyio
async def test_what_is_free_always_passes() -> None:
    books = ledger(daily=0)
    assert books.refusal("a", Decimal(0)) is None
    assert books.refusal("a", Decimal("0.000001")) is not None
    with books.reserve("a", Decimal(0)) as reservation:
        reservation.settle(Decimal(0))
    assert books.status().unknown == 0


@pytest.mark.anyio
async def test_a_key_has_its_own_limit() -> None:
    books = ledger(tenants={"small": ONE, "free": None})
    await spend(books, ONE, "small")
    refusal = books.refusal("small", ONE)
    assert refusal is not None
    assert "key `small` of 1 USD" in refusal
    assert books.refusal("free", ONE) is None
    assert today(books).spent == 1


@pytest.mark.anyio
async def test_day_and_month_begin_anew_in_utc() -> None:
    clock = ManualClock(now=datetime(2030, 1, 30, 23, 0, tzinfo=UTC))
    books = ledger(daily=5, monthly=8, clock=clock)
    await spend(books, Decimal(5))
    assert books.resets_in_s("a") == 3600
    clock.advance(3600)
    assert books.refusal("a", ONE) is None
    await spend(books, Decimal(3))
    refusal = books.refusal("a", ONE)
    assert refusal == "monthly budget of 8 USD is spent; resets at 2030-02-01T00:00Z"
    assert books.resets_in_s("a") == DAY_S
    clock.advance(DAY_S)
    assert books.refusal("a", ONE) is None


@pytest.mark.anyio
async def test_an_unknown_price_passes_and_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    books = ledger()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with books.reserve("a", None) as reservation:
                reservation.settle(None)
    assert books.status().unknown == 3
    assert len(caplog.records) == 1


@pytest.mark.anyio
async def test_an_unknown_cost_is_charged_as_promised() -> None:
    books = ledger()
    with books.reserve("a", Decimal(2)) as reservation:
        reservation.settle(None)
    assert (today(books).spent, books.status().unknown) == (2, 1)


@pytest.mark.anyio
async def test_a_negative_amount_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="negative"):
        with ledger().reserve("a", Decimal(-1)):
            pytest.fail("no entry")


@pytest.mark.anyio
async def test_the_books_survive_a_restart() -> None:
    clock = ManualClock()
    books = ledger(monthly=100, clock=clock)
    await spend(books, Decimal(4))
    kept = json.loads(json.dumps(books.snapshot()))

    again = ledger(monthly=100, clock=clock)
    again.restore(kept)
    assert again.status() == books.status()

    clock.advance(DAY_S)
    tomorrow = ledger(monthly=100, clock=clock)
    tomorrow.restore(kept)
    assert [s.spent for s in tomorrow.status().spends] == [0, 4]


amounts = st.decimals(min_value=0, max_value=3, places=2)
steps = st.lists(st.tuples(amounts, st.none() | amounts, st.booleans()), max_size=30)


@given(steps)
def test_reserved_money_always_returns(taken: list[tuple[Decimal, Decimal | None, bool]]) -> None:
    """However requests end, no promise stays, and what was settled is what was spent."""
    books = ledger(daily=None)
    spent = Decimal(0)

    async def run() -> None:
        nonlocal spent
        for amount, actual, settles in taken:
            with books.reserve("a", amount) as reservation:
                if settles:
                    reservation.settle(actual)
                    spent += amount if actual is None else actual

    anyio.run(run)
    assert (today(books).reserved, today(books).spent) == (0, spent)

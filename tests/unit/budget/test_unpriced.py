"""A cloud without a price is told of at the start, and never counts as free (R60)."""

from __future__ import annotations

import logging
from decimal import Decimal

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from hybridge.budget.config import BudgetConfig
from hybridge.budget.ledger import Ledger
from hybridge.budget.unpriced import check_prices
from hybridge.core.backend import FREE, Price
from hybridge.core.errors import ConfigError
from hybridge.core.request import Tier
from hybridge.testing.backend import spec
from hybridge.testing.clock import ManualClock

UNPRICED = spec("far", Tier.CLOUD)
FINE = (replace(UNPRICED, price=FREE), spec("near"))


def test_refusing_stops_the_start_and_names_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"`far`.*far-model.*refuse.*give it a `price`"):
        check_prices([*FINE, UNPRICED], BudgetConfig(unpriced="refuse"))
    check_prices(FINE, BudgetConfig(unpriced="refuse"))


@pytest.mark.parametrize(
    ("policy", "said"), [("assume", "assumed 15 USD"), ("allow", "no budget can count it")]
)
def test_any_other_policy_warns_once_for_each(
    policy: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        check_prices([*FINE, UNPRICED], BudgetConfig.model_validate({"unpriced": policy}))
    (record,) = caplog.records
    assert said in record.getMessage()
    assert "unknown" in record.getMessage()


def test_what_budgets_count_it_at() -> None:
    own = Price(Decimal(1), Decimal(2))
    assumed = BudgetConfig.model_validate({"assumed_price": {"input_usd": 3, "output_usd": 4}})
    books = Ledger(assumed, {}, ManualClock())
    assert books.counted(own) is own
    assert books.counted(None) == Price(Decimal(3), Decimal(4))
    assert Ledger(BudgetConfig(unpriced="allow"), {}, ManualClock()).counted(None) is None


def test_what_was_assumed_is_spent_and_said_to_be_assumed() -> None:
    books = Ledger(BudgetConfig(daily_usd=Decimal(5)), {}, ManualClock())
    with books.reserve("a", Decimal(3)) as promised:
        promised.settle(None, assumed=Decimal(1))
    with books.reserve("a", Decimal(3)) as promised:
        promised.settle(Decimal(2))
    status = books.status()
    today = status.spends[0]
    assert (today.spent, today.assumed, today.reserved, today.left) == (3, 1, 0, 2)
    assert status.unknown == 1


def test_there_is_something_left_only_where_there_is_a_limit() -> None:
    books = Ledger(BudgetConfig(daily_usd=None), {"a": Decimal(1)}, ManualClock())
    assert [spend.left for spend in books.status().spends] == [None, None, 1]
    assert books.limited
    assert not Ledger(BudgetConfig(daily_usd=None), {}, ManualClock()).limited


@pytest.mark.parametrize("price", [{"input_usd": -1}, {"output_usd": "much"}, {"input": 1}])
def test_a_bad_price_is_no_price(price: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BudgetConfig.model_validate({"assumed_price": price})

"""What an answer cost, and what it saved."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hybridge.budget.bill import bill
from hybridge.core.backend import FREE, Price
from hybridge.core.response import Usage

USAGE = Usage(1_000_000, 1_000_000)
CHEAP, DEAR = Price(Decimal(1), Decimal(2)), Price(Decimal(2), Decimal(8))


@pytest.mark.parametrize(
    ("price", "baseline", "cost", "saved"),
    [
        (FREE, DEAR, 0, 10),
        (CHEAP, DEAR, 3, 7),
        (DEAR, DEAR, 10, 0),
        (DEAR, CHEAP, 10, 0),
        (None, DEAR, None, None),
        (CHEAP, None, 3, None),
    ],
)
def test_savings_are_measured_against_the_same_tokens_there(price, baseline, cost, saved):
    made = bill(USAGE, price, baseline)
    assert (made.usage, made.cost_usd, made.saved_usd) == (USAGE, cost, saved)

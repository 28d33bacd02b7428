"""What one answer cost, and what it would have cost elsewhere (R61)."""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct

from hybridge.budget.prices import cost
from hybridge.core.backend import Price
from hybridge.core.response import Usage


class Bill(Struct, frozen=True):
    """Tokens and money of one answer."""

    usage: Usage
    cost_usd: Decimal | None
    """USD; None: the price is unknown."""
    saved_usd: Decimal | None
    """USD that the baseline would have cost more; None where either is unknown."""

    def plus(self, lost: Bill) -> Bill:
        """This one, with the money of a call that brought no answer; its tokens stay aside."""
        if self.cost_usd is None or lost.cost_usd is None:
            return Bill(self.usage, None, None)
        saved = None if self.saved_usd is None else max(Decimal(0), self.saved_usd - lost.cost_usd)
        return Bill(self.usage, self.cost_usd + lost.cost_usd, saved)


def bill(usage: Usage, price: Price | None, baseline: Price | None) -> Bill:
    """The bill for `usage` at `price`, against the same tokens at the price of `baseline`."""
    paid = cost(price, usage)
    if paid is None or baseline is None:
        return Bill(usage, paid, None)
    saved = Decimal(0) if baseline is price else max(Decimal(0), cost(baseline, usage) - paid)
    return Bill(usage, paid, saved)

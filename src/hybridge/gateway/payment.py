"""The money of a request: promised before it runs, said after it, whatever happens (R61)."""

from __future__ import annotations

from decimal import Decimal

from hybridge.budget.account import ZERO
from hybridge.budget.bill import Bill
from hybridge.budget.ledger import Ledger, Reservation
from hybridge.budget.prices import cost, estimate
from hybridge.core.backend import BackendSpec, Price
from hybridge.core.errors import BudgetExhausted
from hybridge.core.request import AUTO, Request, Tier
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.trip import Trip

CANCELLED = "cancelled"
"""What ended a request whose caller hung up."""
AMPLE = 100
"""Where so many requests of a kind could still be paid for, none of them is counted exactly."""
_TOKENS_OF_A_CHARACTER, _TOKENS_OF_A_TURN = 4, 16
"""More than any tokenizer makes of one, and any template of the other."""


class Payment:
    """Reserves and settles, from the same books for all requests."""

    def __init__(self, fleet: Fleet, ledger: Ledger) -> None:
        self._fleet = fleet
        self._ledger = ledger
        self._bounds: dict[tuple[str, ...], Price | None] = {}
        """By who may be called: no price of theirs is higher."""

    def reserve(self, trip: Trip) -> None:
        """Promises what the request may cost; whatever it did not cost goes back when it is paid.

        No money left only rules the clouds out. Raises `BudgetExhausted` where the caller named
        one, and nothing on the edge may answer in its place.
        """
        tenant = trip.request.tenant
        try:
            if not self._ledger.limits(tenant):
                trip.reservation = self._ledger.reserve(tenant, ZERO)
                return
            trip.reservation = self._amply(trip) or self._ledger.reserve(
                tenant, self._dearest(trip)
            )
        except BudgetExhausted as exhausted:
            trip.over_budget = str(exhausted)
            self._refuse_named_cloud(trip, exhausted)

    def refusal(self, trip: Trip) -> str | None:
        """Why no cloud could be paid for the request now; None when one could."""
        most = self._dearest(trip)
        return self._ledger.refusal(trip.request.tenant, most)

    def pay(self, trip: Trip) -> None:
        """Says what it cost, and gives back its promised money and its place; to be called once."""
        trip.paid = True
        try:
            bill = trip.reply.bill if trip.reply else self._lost(trip)
            if bill is not None:
                self._settle(trip, bill)
                return
        except BaseException:
            trip.leave()
            raise
        trip.leave()

    def _lost(self, trip: Trip) -> Bill | None:
        """What it costs that clouds were asked whose answers never began."""
        if trip.error == CANCELLED:
            trip.abandon()
        return trip.lost

    def _settle(self, trip: Trip, bill: Bill) -> None:
        if trip.reservation is not None:
            assumed = None if bill.cost_usd is not None else self._assumed(trip, bill)
            trip.reservation.settle(bill.cost_usd, assumed=assumed)
        if trip.slot is not None:
            trip.slot.give_back(bill.usage.prompt_tokens + bill.usage.completion_tokens)

    def _amply(self, trip: Trip) -> Reservation | None:
        """Far from every limit a bound of the prompt will do: counting it costs more than all the
        rest."""
        tokens = _bound(trip.request)
        if tokens is None:
            return None
        if trip.called not in self._bounds:
            self._bounds[trip.called] = self._price_bound(trip)
        price = self._bounds[trip.called]
        if price is None:
            return None
        most = estimate(price, tokens, trip.most_written())
        return self._ledger.reserve_amply(trip.request.tenant, most, AMPLE)

    def _price_bound(self, trip: Trip) -> Price | None:
        """None where a price is not known."""
        clouds = [spec for spec in self._called(trip) if spec.tier is Tier.CLOUD]
        prices = [self._ledger.counted(spec.price) for spec in clouds]
        known = [price for price in prices if price is not None]
        if len(known) < len(prices):
            return None
        inputs, outputs = ([p.input_usd for p in known], [p.output_usd for p in known])
        return Price(max(inputs, default=ZERO), max(outputs, default=ZERO))

    def _dearest(self, trip: Trip) -> Decimal | None:
        """USD the request may cost at most: on the dearest cloud that may come to answer it.

        None where no price is known that counts.
        """
        most, unknown, written = ZERO, False, trip.most_written()
        counted = self._ledger.counted
        for spec in self._called(trip):
            if spec.tier is not Tier.CLOUD:
                continue
            price = counted(spec.price)
            if price is None:
                unknown = True
            else:
                most = max(most, estimate(price, trip.count_prompt(), written))
        return None if unknown and not most else most

    def _called(self, trip: Trip) -> list[BackendSpec]:
        """Who may come to answer the request."""
        backends = self._fleet.backends
        return [backends[name].spec for name in trip.called or backends if name in backends]

    def _assumed(self, trip: Trip, bill: Bill) -> Decimal | None:
        """What a budget counts where nobody knows the cost."""
        price = self._ledger.counted(None)
        if price is None:
            return None
        lost = ZERO if trip.lost is None else cost(price, trip.lost.usage)
        if trip.reply is None or trip.reply.tier is not Tier.CLOUD:
            return lost
        return lost + cost(price, bill.usage)

    def _refuse_named_cloud(self, trip: Trip, exhausted: BudgetExhausted) -> None:
        tiers = [spec.tier for spec in self._called(trip)]
        if trip.called and Tier.EDGE not in tiers:
            raise BudgetExhausted(
                f"{exhausted}; the edge still answers `model: {AUTO}`",
                retry_after_s=exhausted.retry_after_s,
            ) from exhausted


def _bound(request: Request) -> int | None:
    """More tokens than the prompt can have; None for one that is not text alone."""
    if request.features:
        return None
    written = sum([len(message.text) for message in request.messages])
    return _TOKENS_OF_A_CHARACTER * written + _TOKENS_OF_A_TURN * (1 + len(request.messages))

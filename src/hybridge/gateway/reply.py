"""What a server gets from the gateway: events to pass on, and the account of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from hybridge.budget.allowance import Rate
from hybridge.budget.bill import Bill, bill
from hybridge.core.backend import FREE, BackendSpec
from hybridge.core.plan import Plan, Route
from hybridge.core.report import Report
from hybridge.core.request import Tier
from hybridge.core.response import Event, Usage
from hybridge.execution.outcome import Outcome
from hybridge.gateway.trip import Trip
from hybridge.routing.facts import estimate_tokens


class Reply:
    """One answer under way. `events` raises `BackendError` where the answer breaks off."""

    def __init__(
        self, trip: Trip, plan: Plan, outcome: Outcome, baseline: BackendSpec | None
    ) -> None:
        self._trip = trip
        self._plan = plan
        self._baseline = baseline
        self._bill: Bill | None = None
        self.outcome = outcome

    @property
    def events(self) -> AsyncIterator[Event]:
        """The answer's events, held ones first."""
        return self.outcome.answer

    @property
    def route(self) -> Route:
        return self.outcome.route

    @property
    def tier(self) -> Tier:
        """Of the backend that answers."""
        return self.outcome.answer.spec.tier

    @property
    def degraded(self) -> bool:
        """Whether the edge answers in the cloud's place."""
        return self.outcome.degraded or self.outcome.route is Route.EDGE_DEGRADED

    @property
    def over(self) -> bool:
        """Whether no backend works for it any more."""
        return self.outcome.answer.over

    @property
    def rates(self) -> Mapping[str, Rate]:
        """What is left of the key's `requests` and `tokens` per minute, where it has limits."""
        slot = self._trip.slot
        return {} if slot is None else slot.rates()

    async def aclose(self) -> None:
        """Stops the backend, if it is still at work."""
        await self.outcome.answer.aclose()

    @property
    def bill(self) -> Bill:
        """Tokens and money so far; final once the events are over."""
        if self._bill is not None:
            return self._bill
        spec = self.outcome.answer.spec
        price = FREE if spec.price is None and spec.tier is Tier.EDGE else spec.price
        if self.outcome.route is Route.CACHE:
            price = FREE
        made = bill(self._usage(), price, self._baseline.price if self._baseline else None)
        if self._trip.lost is not None:
            made = made.plus(self._trip.lost)
        if self.outcome.answer.over:
            self._bill = made
        return made

    @property
    def usage(self) -> Usage:
        """Tokens so far: the backend's own count, else an estimate."""
        return self.bill.usage

    def _usage(self) -> Usage:
        answer = self.outcome.answer
        if answer.usage is not None:
            return answer.usage
        written = estimate_tokens(answer.text)
        if self._trip.request.stream:  # tools that are called and thoughts are no text
            written = max(written, answer.pieces)
        return Usage(self._trip.count_prompt(), written, estimated=True)

    def report(self) -> Report:
        """The `hybridge` object as of now; final once the events are over."""
        plan, outcome, answer = self._plan, self.outcome, self.outcome.answer
        spent = self.bill
        return Report(
            request_id=self._trip.request.id,
            route=outcome.route,
            tier=answer.spec.tier.value,
            model=answer.model,
            score=None if plan.score is None else round(plan.score.value, 2),
            confidence=None if answer.confidence is None else round(answer.confidence, 3),
            reasons=(*self._trip.screen_reasons, *plan.reasons, *outcome.reasons),
            dropped=plan.dropped,
            degraded=self.degraded,
            notice=outcome.notice,
            thresholds=plan.thresholds,
            overhead_ms=round(self._trip.overhead_ms, 3),
            cost_usd=spent.cost_usd,
            saved_usd=spent.saved_usd,
        )

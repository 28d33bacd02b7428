"""The story of one embedding request: admit, screen, plan, run, settle.

The steps are the gateway's own, less one: nothing is recalled. `auto` means exactly one model, and
no other stands in for one that fails, since vectors of two models cannot be compared.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from decimal import Decimal

from msgspec.structs import replace

from hybridge.budget.account import ZERO
from hybridge.budget.allowance import Allowances
from hybridge.budget.bill import bill
from hybridge.budget.ledger import Ledger
from hybridge.budget.prices import cost, estimate
from hybridge.core.backend import FREE, Price
from hybridge.core.clock import Clock, Deadline
from hybridge.core.embedding import (
    Embedded,
    Embedder,
    EmbedderSpec,
    EmbeddingCall,
    EmbeddingRequest,
)
from hybridge.core.errors import BackendError, BudgetExhausted
from hybridge.core.events import AttemptFailed, Events, Served
from hybridge.core.plan import Attempt, Plan, Route, Thresholds
from hybridge.core.report import Report
from hybridge.core.request import AUTO, Tier
from hybridge.core.response import Usage
from hybridge.execution.breaker import Breaker
from hybridge.execution.egress import GuardedEmbedder
from hybridge.execution.latency import Latencies
from hybridge.gateway.embedding_models import (
    Roster,
    check_languages,
    check_possible,
    check_private,
)
from hybridge.gateway.embedding_trip import EmbeddingReply, EmbeddingTrip
from hybridge.gateway.visit import Visits
from hybridge.privacy.finding import told
from hybridge.privacy.guard import Guard
from hybridge.routing.candidate import Candidate
from hybridge.routing.constraints import narrow

CANCELLED = "cancelled"
"""What ended a request whose caller hung up."""
_log = logging.getLogger("hybridge.settle")


class EmbeddingGateway:
    """Serves embedding requests on the embedders it was given. Used by `server`."""

    def __init__(
        self,
        embedders: Mapping[str, Embedder],
        auto: str,
        guard: Guard,
        ledger: Ledger,
        breakers: Mapping[str, Breaker],
        *,
        deadline_s: float,
        events: Events,
        clock: Clock,
        allowances: Allowances | None = None,
        visits: Visits | None = None,
    ) -> None:
        """`auto`: the one embedder behind the name `auto`. Without `allowances` every key may ask
        for as much as it wants. `visits` counts the requests under way."""
        self._embedders = {name: GuardedEmbedder(one) for name, one in embedders.items()}
        self._roster = Roster([one.spec for one in embedders.values()], auto)
        self._guard = guard
        self._ledger = ledger
        self._breakers = breakers
        self._latencies = Latencies()
        self._deadline_s = deadline_s
        self._events = events
        self._clock = clock
        self._allowances = allowances or Allowances({}, clock)
        self._visits = visits or Visits()

    async def embed(self, asked: EmbeddingRequest) -> EmbeddingReply:
        """The vectors of a request's inputs. Raises a `HybridgeError`; `RateLimited` before
        anything is done for the request or told of it."""
        self._visits.enter()
        try:
            return await self._embed(asked)
        finally:
            self._visits.leave()

    async def _embed(self, asked: EmbeddingRequest) -> EmbeddingReply:
        target = self._roster.meant(asked.request.model)
        trip = EmbeddingTrip(asked, target, Deadline.after(self._deadline_s, self._clock))
        trip.slot = self._allowances.enter(asked.request.tenant, trip.count)
        try:
            self._admit(trip)
            await self._screen(trip)
            return await self._run(trip, self._plan(trip))
        except BaseException as error:
            cancelled = isinstance(error, asyncio.CancelledError)
            trip.error = CANCELLED if cancelled else type(error).__name__
            if cancelled:
                trip.abandon()
            raise
        finally:
            self._settle(trip)

    def models(self) -> tuple[EmbedderSpec, ...]:
        """The embedding models that a caller can name, in configuration order."""
        return self._roster.specs

    def _admit(self, trip: EmbeddingTrip) -> None:
        """Reserves the money that the request may cost; whatever it did not cost goes back."""
        tenant = trip.asked.request.tenant
        price = self._ledger.counted(_price(trip.target))
        amount: Decimal | None = ZERO
        if price is None:
            amount = None
        elif price is not FREE and self._ledger.limits(tenant):
            amount = estimate(price, trip.count(), 0)
        try:
            trip.reservation = self._ledger.reserve(tenant, amount)
        except BudgetExhausted as exhausted:
            raise BudgetExhausted(
                f"{trip.target.name}: {exhausted}", retry_after_s=exhausted.retry_after_s
            ) from exhausted

    async def _screen(self, trip: EmbeddingTrip) -> None:
        """Decides how far the inputs may travel; every one of them is examined."""
        ids = 0 if trip.asked.texts else len(trip.asked.inputs)
        screened = await self._guard.screen(trip.asked.request, unreadable=ids, disguisable=False)
        trip.asked = replace(trip.asked, request=screened.request)
        trip.reasons, trip.found = screened.reasons, screened.findings
        if ids and trip.target.leaves_device:
            trip.reasons += (f"privacy: token ids not examined: {ids} inputs of them",)

    def _plan(self, trip: EmbeddingTrip) -> Plan:
        """The one model that is meant, if it may be asked and can do it."""
        asked, target = trip.asked, trip.target
        breaker = self._breakers[target.name]
        candidate = Candidate(
            target,
            unavailable=breaker.refusal(),
            latency_s=self._latencies.of(target.name),
            retry_after_s=breaker.retry_after_s or None,
            limited=breaker.limited,
        )
        check_private(asked, target, self._roster)
        check_possible(asked, target)
        narrow(asked.request, trip.count, [candidate])
        check_languages(asked, target, self._roster)
        model = asked.request.model
        reason = (
            f"{AUTO} is {target.name} for embeddings, by configuration"
            if model == AUTO
            else f"the caller named {model}"
        )
        attempt = Attempt(target.name, target.tier, Route.DIRECT)
        trip.plan = Plan(Route.DIRECT, (attempt,), Thresholds(), reasons=(reason,))
        trip.overhead_ms = 1000 * (self._clock.monotonic() - asked.request.received_s)
        return trip.plan

    async def _run(self, trip: EmbeddingTrip, plan: Plan) -> EmbeddingReply:
        """Asks it, under its breaker and the deadline."""
        target = trip.target
        started_s = self._clock.monotonic()
        permit = self._breakers[target.name].admit()
        trip.was_asked = True
        try:
            call = EmbeddingCall(trip.asked, trip.deadline)
            embedded = await self._embedders[target.name].embed(call)
        except BackendError as error:
            permit.failed(error.fault, error.retry_after_s)
            request_id, now = trip.asked.request.id, self._clock.now()
            self._events.emit(AttemptFailed(request_id, target.name, target.tier, error.fault, now))
            raise
        except BaseException:
            permit.abandon()
            raise
        permit.succeeded(0.0)  # how long a batch takes says nothing of whether it is slow
        if len(trip.asked.inputs) == 1:
            self._latencies.note(target.name, self._clock.monotonic() - started_s)
        trip.reply = self._reply(trip, plan, embedded)
        return trip.reply

    def _settle(self, trip: EmbeddingTrip) -> None:
        """Pays for it, gives back its place, and tells those who watch."""
        spent = trip.bill
        if trip.reservation is not None:
            if spent is not None:
                counted = self._ledger.counted(_price(trip.target))
                trip.reservation.settle(spent.cost_usd, assumed=cost(counted, spent.usage))
            trip.reservation.release()
        if trip.slot is not None:
            trip.slot.give_back(spent.usage.prompt_tokens if spent else 0)
        try:
            self._events.emit(self._served(trip))
        except Exception:
            _log.exception("settling request %s failed", trip.asked.request.id)

    def _reply(self, trip: EmbeddingTrip, plan: Plan, embedded: Embedded) -> EmbeddingReply:
        usage = embedded.usage or Usage(trip.count(), 0, estimated=True)
        trip.bill = spent = bill(usage, _price(trip.target), None)
        report = Report.of_plan(
            plan,
            request_id=trip.asked.request.id,
            model=embedded.model,
            overhead_ms=round(trip.overhead_ms, 3),
        )
        reasons = (*trip.reasons, *report.reasons)
        report = replace(report, reasons=reasons, cost_usd=spent.cost_usd)
        return EmbeddingReply(embedded.vectors, usage, report)

    def _served(self, trip: EmbeddingTrip) -> Served:
        request, target, spent = trip.asked.request, trip.target, trip.bill
        report = trip.reply.report if trip.reply else None
        latency_ms = 1000 * (self._clock.monotonic() - request.received_s)
        return Served(
            request_id=request.id,
            at=self._clock.now(),
            tenant=request.tenant,
            session=None,
            plan=trip.plan,
            route=report.route if report else None,
            tier=target.tier if spent else None,
            backend=target.name if spent else None,
            model=report.model if report else target.model if spent else None,
            confidence=None,
            degraded=False,
            stream=False,
            overhead_ms=trip.overhead_ms,
            first_event_ms=latency_ms if report else None,
            latency_ms=latency_ms,
            usage=spent.usage if spent else None,
            cost_usd=spent.cost_usd if spent else None,
            saved_usd=None,
            error=trip.error,
            operation="embeddings",
            traceparent=request.traceparent,
            clearance=request.clearance,
            found=told(trip.found),
            exits=request.trail.exits,
        )


def _price(spec: EmbedderSpec) -> Price | None:
    """USD; None: unknown."""
    return FREE if spec.price is None and spec.tier is Tier.EDGE else spec.price

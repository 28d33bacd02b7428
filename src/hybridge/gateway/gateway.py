"""The story of one request: admit, screen, recall, plan, run, settle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from hybridge.budget.account import ZERO
from hybridge.budget.ledger import Ledger
from hybridge.budget.prices import estimate
from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BudgetExhausted
from hybridge.core.plan import Plan
from hybridge.core.report import Report
from hybridge.core.request import AUTO, Request, Tier
from hybridge.execution.hedge import hedged
from hybridge.execution.outcome import Outcome
from hybridge.execution.runner import Runner
from hybridge.gateway.background import Background, Subject
from hybridge.gateway.confident_edge import ConfidentEdge
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.planner import Planner
from hybridge.gateway.recall import Recall
from hybridge.gateway.reply import Reply
from hybridge.gateway.settle import Settlement
from hybridge.gateway.shadowing import Shadowing
from hybridge.gateway.status import Status
from hybridge.gateway.trip import Trip
from hybridge.privacy.guard import Guard

ANSWER_TOKENS = 1024
"""Length of an answer where the request names no limit; for reservations only."""


class Patience(Struct, frozen=True):
    """How long the gateway waits."""

    deadline_s: float
    """For a whole request."""
    hedge_after_s: float | None = None
    """For the cloud in the shadow band, before a confident edge answer is taken (R4)."""
    hedge_confidence: float = 0.9


class Gateway:
    """Serves requests on the backends it was given. Built in `wiring`, used by `server`."""

    def __init__(
        self,
        fleet: Fleet,
        guard: Guard,
        ledger: Ledger,
        recall: Recall | None,
        planner: Planner,
        runner: Runner,
        background: Background,
        settlement: Settlement,
        patience: Patience,
        clock: Clock,
    ) -> None:
        self._fleet = fleet
        self._guard = guard
        self._ledger = ledger
        self._memory = recall
        self._planner = planner
        self._runner = runner
        self._background = background
        self._settlement = settlement
        self._patience = patience
        self._clock = clock

    @asynccontextmanager
    async def serve(self, request: Request) -> AsyncIterator[Reply]:
        """Entered once the first event of an answer is there; leaving stops all work for it.

        Raises a `HybridgeError` where nobody could begin to answer.
        """
        trip = self._set_out(request)
        try:
            self._admit(trip)
            await self._screen(trip)
            yield self._recall(trip) or await self._run(trip, await self._plan(trip))
        except BaseException as error:
            trip.error = _name(error)
            raise
        finally:
            await self._settle(trip)

    async def explain(self, request: Request) -> Report:
        """What would be done with the request; nothing is run, spent or remembered (R10)."""
        trip = self._set_out(request)
        trip.over_budget = self._ledger.refusal(request.tenant, self._estimate(trip))
        await self._screen(trip)
        plan = await self._plan(trip)
        first = self._fleet.spec(plan.attempts[0].backend)
        report = Report.of_plan(
            plan,
            request_id=request.id,
            model=first.model,
            overhead_ms=round(trip.overhead_ms, 3),
        )
        return replace(report, reasons=(*trip.screen_reasons, *report.reasons))

    def status(self) -> Status:
        """Whether requests can be served, and by whom."""
        return self._fleet.status()

    def models(self) -> tuple[BackendSpec, ...]:
        """The backends that a caller can name."""
        return self._fleet.specs

    def _set_out(self, request: Request) -> Trip:
        deadline = Deadline.after(self._patience.deadline_s, self._clock)
        return Trip(request, deadline, self._fleet.named(request.model))

    def _admit(self, trip: Trip) -> None:
        """Reserves the money the request may cost; whatever it did not cost goes back."""
        tenant = trip.request.tenant
        amount = self._estimate(trip) if self._ledger.limits(tenant) else ZERO
        try:
            trip.reservation = self._ledger.reserve(tenant, amount)
        except BudgetExhausted as exhausted:
            trip.over_budget = str(exhausted)
            self._refuse_named_cloud(trip, exhausted)

    async def _screen(self, trip: Trip) -> None:
        """Decides how far the request may travel."""
        screened = await self._guard.screen(trip.request)
        trip.request = screened.request
        trip.screen_reasons = screened.reasons

    def _recall(self, trip: Trip) -> Reply | None:
        """An answer that was given before, if there is one."""
        found = self._memory.find(trip) if self._memory else None
        if found is None:
            return None
        trip.plan, outcome = found
        return self._reply(trip, trip.plan, outcome)

    async def _plan(self, trip: Trip) -> Plan:
        """Decides where it runs, and what comes next should that fail."""
        request, named = trip.request, trip.named
        if request.model == AUTO:
            candidates = self._fleet.candidates(trip.over_budget)
            plan = await self._planner.plan(request, trip.facts, candidates)
        else:
            names = self._planner.called(named.name, request.model) if named else None
            candidates = self._fleet.candidates(trip.over_budget, names)
            plan = self._planner.direct(request, trip.count_prompt, candidates)
        trip.plan = plan
        trip.overhead_ms = 1000 * (self._clock.monotonic() - trip.request.received_s)
        return plan

    async def _run(self, trip: Trip, plan: Plan) -> Reply:
        """Carries the plan out until an answer has begun that may be returned."""
        trip.shadowing = self._shadow(trip, plan)
        standing_in = {}
        if trip.shadowing is not None:
            standing_in[trip.shadowing.backend.spec.name] = trip.shadowing.replay
        running = self._runner.run(plan, trip.request, trip.deadline, standing_in=standing_in)
        if trip.shadowing is not None and self._patience.hedge_after_s is not None:
            edge = self._confident_edge(trip, plan, trip.shadowing)
            outcome = await hedged(running, edge, after_s=self._patience.hedge_after_s)
        else:
            outcome = await running
        return self._reply(trip, plan, outcome)

    async def _settle(self, trip: Trip) -> None:
        """Stops what still runs for it, pays for it, remembers and reports what happened."""
        try:
            if trip.reply is not None:
                await trip.reply.aclose()
            elif trip.shadowing is not None:
                trip.shadowing.cancel()
        finally:
            if trip.reservation is not None:
                trip.reservation.settle(trip.reply.bill.cost_usd if trip.reply else ZERO)
            self._settlement.settle(trip)

    def _reply(self, trip: Trip, plan: Plan, outcome: Outcome) -> Reply:
        trip.reply = Reply(trip, plan, outcome, self._fleet.preferred_cloud())
        return trip.reply

    def _estimate(self, trip: Trip) -> Decimal | None:
        """USD the request may cost at most: on the model it names, else on the dearest cloud."""
        asked = (trip.named,) if trip.named else self._fleet.specs
        tokens = trip.request.max_tokens or ANSWER_TOKENS
        costs = [
            estimate(spec.price, trip.count_prompt(), tokens)
            for spec in asked
            if spec.tier is Tier.CLOUD and spec.price is not None
        ]
        unknown = any(spec.tier is Tier.CLOUD and spec.price is None for spec in asked)
        return max(costs, default=None if unknown else ZERO)

    def _refuse_named_cloud(self, trip: Trip, exhausted: BudgetExhausted) -> None:
        if trip.named is not None and trip.named.tier is Tier.CLOUD:
            raise BudgetExhausted(
                f"{exhausted}; the edge still answers `model: {AUTO}`",
                retry_after_s=exhausted.retry_after_s,
            ) from exhausted

    def _shadow(self, trip: Trip, plan: Plan) -> Shadowing | None:
        if plan.shadow is None:
            return None
        backend = self._fleet.backends[plan.shadow]
        return self._background.start(backend, Subject(trip.request, trip.facts, plan))

    def _confident_edge(self, trip: Trip, plan: Plan, shadowing: Shadowing) -> ConfidentEdge:
        bound = self._patience.hedge_confidence
        return ConfidentEdge(self._runner, trip, plan, shadowing, bound)


def _name(error: BaseException) -> str:
    cancelled = isinstance(error, asyncio.CancelledError | GeneratorExit)
    return "cancelled" if cancelled else type(error).__name__

"""The story of one request: admit, screen, recall, plan, run, settle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal

from hybridge.budget.ledger import Ledger
from hybridge.budget.prices import estimate
from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BudgetExhausted
from hybridge.core.plan import Plan, Route
from hybridge.core.report import Report
from hybridge.core.request import AUTO, Request, Tier
from hybridge.execution.hedge import hedged
from hybridge.execution.outcome import Outcome
from hybridge.execution.runner import Runner
from hybridge.gateway.background import Background, Subject
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.planner import Planner
from hybridge.gateway.recall import Recall
from hybridge.gateway.reply import Reply
from hybridge.gateway.settle import Settlement
from hybridge.gateway.shadowing import Shadowing
from hybridge.gateway.status import Status
from hybridge.gateway.trip import Trip
from hybridge.privacy.guard import Guard
from hybridge.routing.facts import gather

ANSWER_TOKENS = 1024
"""Length of an answer where the request names no limit; for reservations only."""


@dataclass(frozen=True, slots=True)
class Patience:
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
            async with self._admit(trip):
                await self._screen(trip)
                reply = self._recall(trip) or await self._run(trip, await self._plan(trip))
                try:
                    yield reply
                finally:
                    await reply.aclose()
        except BaseException as error:
            trip.error = _name(error)
            raise
        finally:
            self._settle(trip)

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
        return Trip(request, gather(request), deadline)

    @asynccontextmanager
    async def _admit(self, trip: Trip) -> AsyncIterator[None]:
        """Reserves the money the request may cost; whatever it did not cost goes back."""
        amount = self._estimate(trip)
        tenant = trip.request.tenant
        trip.over_budget = self._ledger.refusal(tenant, amount)
        if trip.over_budget is not None:
            self._refuse_named_cloud(trip)
            yield
            return
        async with self._ledger.reserve(tenant, amount) as reservation:
            try:
                yield
            finally:
                reservation.settle(trip.reply.cost_usd if trip.reply else Decimal(0))

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
        candidates = self._fleet.candidates(trip.over_budget)
        plan = trip.plan = await self._planner.plan(trip.request, trip.facts, candidates)
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

    def _settle(self, trip: Trip) -> None:
        """Remembers and reports what happened."""
        if trip.reply is None and trip.shadowing is not None:
            trip.shadowing.cancel()
        self._settlement.settle(trip)

    def _reply(self, trip: Trip, plan: Plan, outcome: Outcome) -> Reply:
        trip.reply = Reply(trip, plan, outcome, self._fleet.preferred_cloud())
        return trip.reply

    def _estimate(self, trip: Trip) -> Decimal | None:
        """USD the request may cost at most: on the model it names, else on the dearest cloud."""
        named = self._fleet.named(trip.request.model)
        asked = (named,) if named else self._fleet.specs
        tokens = trip.request.max_tokens or ANSWER_TOKENS
        costs = [
            estimate(spec.price, trip.facts.prompt_tokens, tokens)
            for spec in asked
            if spec.tier is Tier.CLOUD and spec.price is not None
        ]
        unknown = any(spec.tier is Tier.CLOUD and spec.price is None for spec in asked)
        return max(costs, default=None if unknown else Decimal(0))

    def _refuse_named_cloud(self, trip: Trip) -> None:
        named = self._fleet.named(trip.request.model)
        if named is not None and named.tier is Tier.CLOUD:
            raise BudgetExhausted(
                f"{trip.over_budget}; the edge still answers `model: {AUTO}`",
                retry_after_s=self._ledger.resets_in_s(trip.request.tenant),
            )

    def _shadow(self, trip: Trip, plan: Plan) -> Shadowing | None:
        if plan.shadow is None:
            return None
        backend = self._fleet.backends[plan.shadow]
        return self._background.start(backend, Subject(trip.request, trip.facts, plan))

    def _confident_edge(self, trip: Trip, plan: Plan, shadowing: Shadowing) -> Hedge:
        return Hedge(self._runner, trip, plan, shadowing, self._patience.hedge_confidence)


class Hedge:
    """The edge's side of the race: its answer under way, once it is there and confident."""

    def __init__(
        self, runner: Runner, trip: Trip, plan: Plan, shadowing: Shadowing, bound: float
    ) -> None:
        self._runner = runner
        self._trip = trip
        self._plan = plan
        self._shadowing = shadowing
        self._bound = bound

    async def __call__(self) -> Outcome | None:
        """None when the edge fails or is not confident enough."""
        await asyncio.wait({self._shadowing.asked})
        confidence = self._shadowing.confidence
        if confidence is None or confidence < self._bound:
            return None
        name = self._shadowing.backend.spec.name
        alone = tuple(a for a in self._plan.attempts if a.backend == name)
        outcome = await self._runner.run(
            replace(self._plan, attempts=alone),
            self._trip.request,
            self._trip.deadline,
            standing_in={name: self._shadowing.replay},
        )
        return replace(outcome, route=Route.SHADOW, reasons=("hedged: the edge was confident",))


def _name(error: BaseException) -> str:
    cancelled = isinstance(error, asyncio.CancelledError | GeneratorExit)
    return "cancelled" if cancelled else type(error).__name__

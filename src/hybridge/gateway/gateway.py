"""The story of one request: admit, screen, recall, plan, run, settle."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from msgspec import Struct
from msgspec.structs import replace

from hybridge.budget.allowance import Allowances
from hybridge.budget.ledger import Ledger
from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Clock, Deadline
from hybridge.core.plan import Plan, Route, Score
from hybridge.core.report import Report
from hybridge.core.request import AUTO, Clearance, Request, Tier
from hybridge.execution.hedge import hedged
from hybridge.execution.outcome import Outcome
from hybridge.execution.runner import Runner
from hybridge.gateway.background import Background, Subject
from hybridge.gateway.confident_edge import ConfidentEdge
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.payment import Payment
from hybridge.gateway.planner import Planner, likely
from hybridge.gateway.recall import Recall
from hybridge.gateway.reply import Reply
from hybridge.gateway.settle import Settlement
from hybridge.gateway.shadowing import Shadowing
from hybridge.gateway.status import Status
from hybridge.gateway.trip import Trip
from hybridge.gateway.visit import Visit, Visits
from hybridge.learning.evidence import Pair
from hybridge.privacy.guard import Blocked, Guard
from hybridge.routing.facts import estimate_prompt_tokens


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
        *,
        allowances: Allowances | None = None,
        visits: Visits | None = None,
    ) -> None:
        """Without `allowances` every key may ask for as much as it wants. `visits` counts the
        requests under way."""
        self._fleet = fleet
        self._guard = guard
        self._payment = Payment(fleet, ledger)
        self._memory = recall
        self._planner = planner
        self._runner = runner
        self._background = background
        self._settlement = settlement
        self._patience = patience
        self._clock = clock
        self._allowances = allowances or Allowances({}, clock)
        self._visits = visits or Visits()

    def serve(self, request: Request) -> AbstractAsyncContextManager[Reply]:
        """Entered once the first event of an answer is there; leaving stops all work for it.

        Raises a `HybridgeError` where nobody could begin to answer; `RateLimited` before anything
        is done for the request, told of it or taken from its key's allowance.
        """
        return Visit(self, request, self._visits)

    def arrive(self, request: Request) -> Trip:
        """Takes its place among those of its key. Raises `RateLimited`."""
        trip = self._set_out(request)
        trip.slot = self._allowances.enter(request.tenant, trip.most_tokens)
        return trip

    async def begin(self, trip: Trip) -> Reply:
        """The story until an answer has begun."""
        self._admit(trip)
        await self._screen(trip)
        kept = None if self._memory is None else await self._recall(trip, self._memory)
        return kept or await self._run(trip, await self._plan(trip))

    async def end(self, trip: Trip) -> None:
        """The rest of it; to be called once for whatever arrived."""
        try:
            await self._settle(trip)
        finally:
            trip.reply = None  # they know each other: only the garbage collector would free them

    async def explain(self, request: Request, known: Score | None = None) -> Report:
        """What would be done with the request; nothing is run, spent or remembered (R10).

        `known`: its score, where that has been told already.
        """
        trip = self._set_out(request)
        trip.over_budget = self._payment.refusal(trip)
        await self._screen(trip)
        plan = await self._plan(trip, known)
        first = self._fleet.spec(plan.attempts[0].backend)
        report = Report.of_plan(
            plan,
            request_id=request.id,
            model=first.model,
            overhead_ms=round(trip.overhead_ms, 3),
        )
        return replace(report, reasons=(*trip.screen_reasons, *report.reasons))

    def likely_pair(self) -> Pair | None:
        """The two models that a request would probably be decided between now."""
        return likely(self._fleet.candidates(None))

    def count_tokens(self, request: Request) -> int:
        """Tokens of everything that is sent, estimated on the safe side; nothing is run."""
        return estimate_prompt_tokens(request)

    def status(self) -> Status:
        """Whether requests can be served, and by whom."""
        return self._fleet.status()

    def models(self) -> tuple[BackendSpec, ...]:
        """The backends that a caller can name."""
        return self._fleet.specs

    def _set_out(self, request: Request) -> Trip:
        deadline = Deadline.after(self._patience.deadline_s, self._clock)
        named = self._fleet.named(request.model)
        called = self._planner.called(named.name, request.model) if named else ()
        return Trip(request, deadline, named, called)

    def _admit(self, trip: Trip) -> None:
        """Reserves the money the request may cost; whatever it did not cost goes back."""
        self._payment.reserve(trip)

    async def _screen(self, trip: Trip) -> None:
        """Decides how far the request may travel."""
        try:
            screened = await self._guard.screen(trip.request)
        except Blocked as blocked:
            trip.request = replace(trip.request, clearance=Clearance.DEVICE_ONLY)
            trip.found = blocked.findings
            raise
        trip.request = screened.request
        trip.screen_reasons, trip.found = screened.reasons, screened.findings

    async def _recall(self, trip: Trip, memory: Recall) -> Reply | None:
        """An answer that was given before, if there is one."""
        found = await memory.find(trip)
        if found is None:
            return None
        trip.plan, outcome = found
        return self._reply(trip, trip.plan, outcome)

    async def _plan(self, trip: Trip, known: Score | None = None) -> Plan:
        """Decides where it runs, and what comes next should that fail."""
        request = trip.request
        if request.model == AUTO:
            candidates = self._fleet.candidates(trip.over_budget)
            plan = await self._planner.plan(request, trip.facts, candidates, known)
        else:
            candidates = self._fleet.candidates(trip.over_budget, trip.called or None)
            plan = self._planner.direct(request, trip.count_prompt, candidates)
        trip.plan = plan
        trip.overhead_ms = 1000 * (self._clock.monotonic() - trip.request.received_s)
        return plan

    async def _run(self, trip: Trip, plan: Plan) -> Reply:
        """Carries the plan out until an answer has begun that may be returned."""
        trip.shadowing = shadowing = self._shadow(trip, plan)
        running = self._runner.run(
            plan,
            trip.request,
            trip.deadline,
            standing_in=None if shadowing is None else shadowing.standing_in,
            watch=trip,
        )
        if shadowing is not None and self._patience.hedge_after_s is not None:
            edge = self._confident_edge(trip, plan, shadowing)
            outcome = await hedged(running, edge, after_s=self._patience.hedge_after_s)
            if outcome.route is Route.SHADOW and outcome.answer.spec.tier is Tier.EDGE:
                trip.abandon()  # the cloud was too late, but it has read the prompt
        else:
            outcome = await running
        return self._reply(trip, plan, outcome)

    async def _settle(self, trip: Trip) -> None:
        """Stops what still runs for it, pays for it, remembers and reports what happened."""
        reply = trip.reply
        try:
            if reply is not None and reply.over:
                # Before anything is awaited: the caller has its answer, and may ask again by now.
                self._payment.pay(trip)
            if reply is not None:
                await reply.aclose()
            elif trip.shadowing is not None:
                trip.shadowing.cancel()
        finally:
            try:
                if not trip.paid:
                    self._payment.pay(trip)
            finally:
                self._settlement.settle(trip)

    def _reply(self, trip: Trip, plan: Plan, outcome: Outcome) -> Reply:
        trip.reply = Reply(trip, plan, outcome, self._fleet.preferred_cloud())
        return trip.reply

    def _shadow(self, trip: Trip, plan: Plan) -> Shadowing | None:
        if plan.shadow is None:
            return None
        backend = self._fleet.backends[plan.shadow]
        return self._background.start(backend, Subject(trip.request, trip.facts, plan))

    def _confident_edge(self, trip: Trip, plan: Plan, shadowing: Shadowing) -> ConfidentEdge:
        bound = self._patience.hedge_confidence
        return ConfidentEdge(self._runner, trip, plan, shadowing, bound)

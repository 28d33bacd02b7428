"""The last step: what stays of a request once it is over."""

from __future__ import annotations

import logging
from functools import partial

from hybridge.core.clock import Clock
from hybridge.core.events import Events, Exited, Served
from hybridge.core.plan import Plan, Route
from hybridge.core.request import Clearance, Tier
from hybridge.core.trail import Exit
from hybridge.execution.latency import Latencies
from hybridge.execution.outcome import Outcome
from hybridge.gateway.recall import Recall
from hybridge.gateway.shadowing import Side
from hybridge.gateway.trip import Trip
from hybridge.learning.agreement import Said, said
from hybridge.privacy.finding import told
from hybridge.routing.session import Sessions

_log = logging.getLogger("hybridge.settle")

_EDGE_BY_INTENT = (Route.EDGE_RULE, Route.EDGE_CLASSIFIED, Route.CLOUD_FALLBACK)
_CLOUD_BY_INTENT = (Route.CLOUD_CLASSIFIED, Route.CLOUD_ESCALATED, Route.EDGE_DEGRADED)


class Settlement:
    """Binds the session, keeps the answer, notes the latency and tells those who watch.

    Whatever goes wrong here is logged; the reply is already with the caller.
    """

    def __init__(
        self,
        sessions: Sessions,
        latencies: Latencies,
        recall: Recall | None,
        events: Events,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._latencies = latencies
        self._recall = recall
        self._events = events
        self._clock = clock

    def settle(self, trip: Trip) -> None:
        """Called once for every request, served or not."""
        try:
            if trip.reply is not None and trip.plan is not None:
                self._keep(trip, trip.plan, trip.reply.outcome)
            self._events.emit(self._served(trip))
        except Exception:
            _log.exception("settling request %s failed", trip.request.id)
            if trip.shadowing is not None:
                trip.shadowing.cancel()  # it would wait for the other side for ever

    def _keep(self, trip: Trip, plan: Plan, outcome: Outcome) -> None:
        answer = outcome.answer
        if outcome.route is not Route.CACHE and answer.first_event_s is not None:
            self._latencies.note(answer.spec.name, answer.first_event_s)
        tier = intended_tier(outcome.route)
        if tier is not None and answer.complete:
            score = None if plan.score is None else plan.score.value
            self._sessions.bind(trip.request.session, score, tier)
        if self._recall is not None:
            self._recall.keep(trip, outcome)
        if trip.shadowing is not None:
            trip.shadowing.served(self._side(outcome) if answer.complete else None)

    def _side(self, outcome: Outcome) -> Side:
        answer = outcome.answer
        spec, whole = answer.spec, answer.whole()
        told = Said(answer.text) if whole is None else said(whole)
        return Side(
            spec.name, spec.tier, answer.version, told, answer.confidence, answer.elapsed_ms
        )

    def _served(self, trip: Trip) -> Served:
        reply, request = trip.reply, trip.request
        if reply is None:
            answer, spec, spent, first_s = None, trip.lost_by, trip.lost, None
        else:
            answer, spent = reply.outcome.answer, reply.bill
            spec, first_s = answer.spec, answer.first_event_s
        return Served(
            request_id=request.id,
            at=self._clock.now(),
            tenant=request.tenant,
            session=request.session,
            plan=trip.plan,
            route=reply.route if reply else None,
            tier=spec.tier if spec else None,
            backend=spec.name if spec else None,
            model=answer.model if answer else spec.model if spec else None,
            version=answer.version if answer else spec.version if spec else "",
            confidence=answer.confidence if answer else None,
            degraded=reply.degraded if reply else False,
            stream=request.stream,
            overhead_ms=trip.overhead_ms,
            first_event_ms=None if first_s is None else trip.overhead_ms + 1000 * first_s,
            latency_ms=1000 * (self._clock.monotonic() - request.received_s),
            usage=spent.usage if spent else None,
            cost_usd=spent.cost_usd if spent else None,
            saved_usd=spent.saved_usd if spent else None,
            error=trip.error,
            traceparent=request.traceparent,
            clearance=request.clearance,
            found=told(trip.found) if trip.found else (),
            # not of the request itself: its trail would hold what holds its trail
            exits=request.trail.close(
                partial(self._exited, request.id, request.tenant, request.clearance)
            ),
        )

    def _exited(self, request_id: str, tenant: str, clearance: Clearance, left: Exit) -> None:
        self._events.emit(Exited(request_id, self._clock.now(), tenant, clearance, left))


def intended_tier(route: Route) -> Tier | None:
    """The tier a session leans to after this route: failover and cache do not move it (R6)."""
    if route in _EDGE_BY_INTENT:
        return Tier.EDGE
    return Tier.CLOUD if route in _CLOUD_BY_INTENT else None

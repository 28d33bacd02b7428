"""The third step: an answer that was given before (R62)."""

from __future__ import annotations

from msgspec.structs import replace

from hybridge.cache.exact import ExactCache
from hybridge.core.backend import Call
from hybridge.core.clock import Clock
from hybridge.core.plan import Attempt, Plan, Route, Thresholds
from hybridge.core.request import AUTO, Clearance, Request, Tier
from hybridge.execution.answer import Answer
from hybridge.execution.outcome import Outcome
from hybridge.execution.permit import Unguarded
from hybridge.execution.replay import replay
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.trip import Trip


class Recall:
    """Gives accepted edge answers again, to the same tenant for the same conversation."""

    def __init__(
        self, cache: ExactCache, fleet: Fleet, thresholds: Thresholds, clock: Clock
    ) -> None:
        self._cache = cache
        self._fleet = fleet
        self._thresholds = thresholds
        self._clock = clock

    def find(self, trip: Trip) -> tuple[Plan, Outcome] | None:
        """The kept answer with the plan that stands for it, or None."""
        request = trip.request
        if not _may_be_kept(request):
            return None
        completion = self._cache.get(self._cache.key(request))
        if completion is None:
            return None
        spec = self._fleet.spec(completion.model)  # kept under its backend's name, see `keep`
        attempt = Attempt(spec.name, spec.tier, Route.CACHE)
        plan = Plan(Route.CACHE, (attempt,), self._thresholds, reasons=("answered before",))
        answer = Answer(
            attempt,
            spec,
            replay(replace(completion, model=spec.model), request),
            Call(request, trip.deadline),
            Unguarded(),
            self._clock,
            lambda _: None,
        )
        return plan, Outcome(answer, Route.CACHE)

    def keep(self, trip: Trip, outcome: Outcome) -> None:
        """Keeps a complete answer of the edge that was good enough."""
        answer = outcome.answer
        served_well = outcome.route in (Route.EDGE_RULE, Route.EDGE_CLASSIFIED)
        if not served_well or outcome.notice is not None or not _may_be_kept(trip.request):
            return
        whole = answer.whole() if answer.spec.tier is Tier.EDGE else None
        if whole is not None:
            kept = replace(whole, model=answer.spec.name)
            self._cache.put(self._cache.key(trip.request), kept)


def _may_be_kept(request: Request) -> bool:
    free = request.clearance is Clearance.ANYWHERE and request.wish.tier is None
    return request.model == AUTO and free

"""The third step: an answer that was given before (R62)."""

from __future__ import annotations

from msgspec.structs import replace

from hybridge.cache.answers import Answers
from hybridge.cache.semantic import SemanticCache
from hybridge.core.backend import Call
from hybridge.core.clock import Clock
from hybridge.core.plan import Attempt, Plan, Route, Thresholds
from hybridge.core.request import AUTO, Clearance, Tier
from hybridge.core.response import Completion
from hybridge.core.trail import Exit
from hybridge.execution.answer import Answer
from hybridge.execution.outcome import Outcome
from hybridge.execution.permit import Unguarded
from hybridge.execution.replay import replay
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.trip import Trip

_AGAIN, _ALIKE = "answered before", "answered before (similar question)"


class Recall:
    """Gives accepted edge answers again, to the same caller for the same conversation."""

    def __init__(
        self,
        cache: Answers,
        fleet: Fleet,
        thresholds: Thresholds,
        clock: Clock,
        *,
        semantic: SemanticCache | None = None,
    ) -> None:
        """`semantic` finds what was asked in other words."""
        self._cache = cache
        self._semantic = semantic
        self._fleet = fleet
        self._thresholds = thresholds
        self._clock = clock

    async def find(self, trip: Trip) -> tuple[Plan, Outcome] | None:
        """The kept answer with the plan that stands for it, or None."""
        if not _may_be_kept(trip):
            return None
        completion, reason = await self._cache.get(self._cache.key(trip.request)), _AGAIN
        if completion is None and self._semantic is not None:
            completion, reason = await self._semantic.find(trip.request), _ALIKE
        return None if completion is None else self._given_again(trip, completion, reason)

    def keep(self, trip: Trip, outcome: Outcome) -> None:
        """Keeps a complete answer of the edge that was good enough, and of the weights in force."""
        answer = outcome.answer
        served_well = outcome.route in (Route.EDGE_RULE, Route.EDGE_CLASSIFIED)
        if not served_well or outcome.notice is not None or not _may_be_kept(trip):
            return
        current = answer.version == self._fleet.spec(answer.spec.name).version
        whole = answer.whole() if answer.spec.tier is Tier.EDGE and current else None
        if whole is not None:
            kept = replace(whole, model=answer.spec.name)
            if self._cache.elsewhere is not None:
                trip.request.trail.note(Exit(self._cache.elsewhere, "cache"))
            self._cache.put(self._cache.key(trip.request), kept)
            if self._semantic is not None:
                self._semantic.note(trip.request)

    def _given_again(self, trip: Trip, completion: Completion, reason: str) -> tuple[Plan, Outcome]:
        request = trip.request
        spec = self._fleet.spec(completion.model)  # kept under its backend's name, see `keep`
        attempt = Attempt(spec.name, spec.tier, Route.CACHE)
        plan = Plan(Route.CACHE, (attempt,), self._thresholds, reasons=(reason,))
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


def _may_be_kept(trip: Trip) -> bool:
    """Nothing that privacy had a word to say about is remembered, not even what it let pass."""
    request = trip.request
    free = request.clearance is Clearance.ANYWHERE and not trip.screen_reasons
    return free and request.model == AUTO and request.wish.tier is None

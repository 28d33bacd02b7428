"""The fourth step: from a request to a decision."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from hybridge.core.plan import Plan, Score, Thresholds
from hybridge.core.request import Clearance, Request, Tier
from hybridge.learning.evidence import Pair
from hybridge.routing.choose import rank
from hybridge.routing.constraints import Count
from hybridge.routing.direct import deputies_of, direct
from hybridge.routing.facts import Facts
from hybridge.routing.router import Candidate, plan
from hybridge.routing.rules import Rules, Verdict
from hybridge.routing.scorer import Scorer
from hybridge.routing.session import Sessions

_log = logging.getLogger("hybridge.planner")


class Planner:
    """Gathers what a decision needs; the decision itself is `routing.router.plan`, pure."""

    def __init__(
        self,
        rules: Rules,
        scorer: Scorer,
        sessions: Sessions,
        thresholds: Thresholds,
        *,
        fallbacks: Mapping[str, Sequence[str]],
        shadow_rate: float,
        draw: Callable[[], float],
    ) -> None:
        self._rules = rules
        self._scorer = scorer
        self._thresholds = thresholds
        self._fallbacks = fallbacks
        self._shadow_rate = shadow_rate
        self._draw = draw
        self.sessions = sessions

    async def plan(
        self,
        request: Request,
        facts: Facts,
        candidates: Sequence[Candidate],
        known: Score | None = None,
    ) -> Plan:
        """What to do about a request for `auto`. Raises what `routing.router.plan` raises.

        `known`: its score, where that has been told already.
        """
        verdict, score = await self._judge(request, facts, candidates, known)
        return plan(
            request,
            facts,
            verdict=verdict,
            score=score,
            session=self.sessions.view(request.session),
            thresholds=self._thresholds,
            candidates=candidates,
            fallbacks=self._fallbacks,
            shadow_draw=self._draw() if self._shadow_rate else 1.0,
            shadow_rate=self._shadow_rate,
        )

    def direct(
        self, request: Request, prompt_tokens: Count, candidates: Sequence[Candidate]
    ) -> Plan:
        """The plan of a request that names its model: nothing about it needs to be judged."""
        return direct(request, prompt_tokens, self._thresholds, candidates, self._fallbacks)

    def called(self, named: str, model: str) -> tuple[str, ...]:
        """The backends that may answer where the caller named one: it and its deputies."""
        return (named, *deputies_of(named, model, self._fallbacks))

    async def score(self, facts: Facts, candidates: Sequence[Candidate]) -> Score | None:
        """The score of a request; None when the scorer fails, which never fails the request."""
        try:
            return await self._scorer.score(facts, likely(candidates))
        except Exception:  # whatever a scorer does, the request goes on without it
            _log.exception("the scorer failed; the policy's default applies")
            return None

    async def _judge(
        self,
        request: Request,
        facts: Facts,
        candidates: Sequence[Candidate],
        known: Score | None,
    ) -> tuple[Verdict | None, Score | None]:
        if request.clearance is Clearance.DEVICE_ONLY:
            return None, None  # already settled, by privacy
        verdict = self._rules.match(facts)
        if verdict is not None and verdict.tier is not None:
            return verdict, None
        return verdict, known or await self.score(facts, candidates)


def likely(candidates: Sequence[Candidate]) -> Pair | None:
    """The two models that a request is probably decided between: the first choice of each tier."""
    edge, cloud = (_first(candidates, tier) for tier in (Tier.EDGE, Tier.CLOUD))
    return None if edge is None or cloud is None else Pair(edge.name, edge.spec.version, cloud.name)


def _first(candidates: Sequence[Candidate], tier: Tier) -> Candidate | None:
    """One that can be asked now, else any."""
    own = [candidate for candidate in candidates if candidate.tier is tier]
    well = [candidate for candidate in own if candidate.unavailable is None]
    return next(iter(rank(well or own)), None)

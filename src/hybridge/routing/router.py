"""From what is known to a plan: a pure function (R3-R9). `explain` calls the same one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hybridge.core.plan import Attempt, Plan, Route, Score, Thresholds
from hybridge.core.request import AUTO, Request, Tier
from hybridge.routing import constraints
from hybridge.routing.candidate import Candidate
from hybridge.routing.choose import DEFAULT, Weights, rank
from hybridge.routing.constraints import Narrowed, device_only, narrow
from hybridge.routing.course import Course, Side, steer
from hybridge.routing.direct import direct
from hybridge.routing.facts import Facts
from hybridge.routing.rules import Verdict
from hybridge.routing.session import SessionView

__all__ = ["Candidate", "plan"]

_FROM_EDGE = "this answer comes from the edge model"


def plan(
    request: Request,
    facts: Facts,
    *,
    verdict: Verdict | None,
    score: Score | None,
    session: SessionView,
    thresholds: Thresholds,
    candidates: Sequence[Candidate],
    fallbacks: Mapping[str, Sequence[str]] | None = None,
    shadow_draw: float = 1.0,
    shadow_rate: float = 0.0,
    weights: Weights = DEFAULT,
) -> Plan:
    """What will be tried, in which order, and why.

    `score` None means that scoring failed. `shadow_draw` is a random number in [0, 1): below
    `shadow_rate`, a scored request outside the band is compared all the same. Raises
    `UnknownModel`, `Unsupported`, `PrivacyNoLocalPath` or `NotServed` where nothing can be tried.
    """
    if request.model != AUTO:
        return direct(request, lambda: facts.prompt_tokens, thresholds, candidates, fallbacks or {})
    narrowed = narrow(request, lambda: facts.prompt_tokens, candidates)
    field = _Field(
        edges=rank(narrowed.of(Tier.EDGE), weights),
        clouds=rank(narrowed.of(Tier.CLOUD), weights),
        narrowed=narrowed,
        thresholds=thresholds,
    )
    if device_only(request):
        return _private(field)
    course = steer(
        facts,
        wish=request.wish,
        verdict=verdict,
        score=score,
        session=session,
        thresholds=thresholds,
    )
    drawn = course.scored and shadow_draw < shadow_rate and thresholds.edge_max < _EVERYTHING
    return _laid_out(course, field, shadow_rate if drawn else None)


_EVERYTHING = 10
"""`edge_max: 10` keeps everything scored on the edge; then nothing is compared at random either."""


@dataclass(frozen=True, slots=True)
class _Field:
    """Who is there to carry a decision out, best first."""

    edges: tuple[Candidate, ...]
    clouds: tuple[Candidate, ...]
    narrowed: Narrowed
    thresholds: Thresholds


def _private(field: _Field) -> Plan:
    attempts = _attempts(field.edges, Route.EDGE_PRIVATE, judged=True)
    reason = "the request may not leave this device"
    return _made(attempts, field, None, (reason,))


def _laid_out(course: Course, field: _Field, random_rate: float | None) -> Plan:
    """Puts the side's own backends first and the other side's behind them."""
    both = bool(field.edges and field.clouds)
    if both and (course.side is Side.BOTH or random_rate is not None):
        return _compared(course, field, random_rate)
    if course.side is Side.EDGE:
        return _to_edge(course, field) if field.edges else _edge_gone(course, field)
    return _to_cloud(course, field) if field.clouds else _cloud_gone(course, field)


def _compared(course: Course, field: _Field, random_rate: float | None) -> Plan:
    """Both sides at once: the cloud's answer is returned, the edge's is for the record (R4)."""
    route = Route.CLOUD_CLASSIFIED if course.side is Side.CLOUD else Route.SHADOW
    attempts = (
        *_attempts(field.clouds, route),
        *_attempts(field.edges, Route.EDGE_DEGRADED),
    )
    chosen = () if random_rate is None else (f"compared at random, rate {random_rate:g}",)
    return _made(
        attempts,
        field,
        course.score,
        (*course.reasons, *chosen),
        shadow=field.edges[0].name,
        propensity=1.0 if random_rate is None else random_rate,
    )


def _to_edge(course: Course, field: _Field) -> Plan:
    attempts = (
        *_attempts(field.edges, course.route, judged=True),
        *_attempts(field.clouds, Route.CLOUD_FALLBACK),
    )
    return _made(attempts, field, course.score, course.reasons)


def _to_cloud(course: Course, field: _Field) -> Plan:
    """Also the band, where no edge is left to compare with."""
    alone = course.side is Side.BOTH
    route = Route.CLOUD_CLASSIFIED if alone else course.route
    reasons = (*course.reasons, "no edge to compare with") if alone else course.reasons
    attempts = (
        *_attempts(field.clouds, route),
        *_attempts(field.edges, Route.EDGE_DEGRADED),
    )
    return _made(attempts, field, course.score, reasons)


def _edge_gone(course: Course, field: _Field) -> Plan:
    """A fallback where the edge should have answered; a decision where it could not have."""
    route, why = _instead(field.narrowed, Tier.EDGE, Route.CLOUD_FALLBACK, Route.CLOUD_CLASSIFIED)
    return _made(_attempts(field.clouds, route), field, course.score, (*course.reasons, why))


def _cloud_gone(course: Course, field: _Field) -> Plan:
    """Degraded and marked (R9), except where the caller's own limit rules the cloud out."""
    narrowed = field.narrowed
    slow = narrowed.lost(Tier.CLOUD, constraints.LATENCY)
    if slow and not narrowed.lost(Tier.CLOUD, constraints.AVAILABILITY):
        reasons = (*course.reasons, f"the cloud is ruled out: {slow[0]}")
        attempts = _attempts(field.edges, Route.EDGE_CLASSIFIED, judged=True)
        return _made(attempts, field, course.score, reasons)
    route, why = _instead(narrowed, Tier.CLOUD, Route.EDGE_DEGRADED, Route.EDGE_DEGRADED)
    attempts = _attempts(field.edges, route, judged=True)
    notice = f"{why[0].upper()}{why[1:]}; {_FROM_EDGE}."
    return _made(attempts, field, course.score, (*course.reasons, why), notice=notice)


def _instead(narrowed: Narrowed, tier: Tier, failed: Route, unable: Route) -> tuple[Route, str]:
    """The route when a whole tier is gone, and why it is."""
    down = narrowed.lost(tier, constraints.AVAILABILITY)
    if down:
        return failed, f"the {tier.value} is unavailable: {_listed(down)}"
    other = narrowed.lost(tier, constraints.FEATURES, constraints.CONTEXT, constraints.LATENCY)
    if other:
        return unable, f"the {tier.value} is ruled out: {_listed(other)}"
    return failed, f"no {tier.value} is configured"


def _listed(reasons: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(reasons))


def _attempts(
    candidates: Iterable[Candidate], route: Route, *, judged: bool = False
) -> tuple[Attempt, ...]:
    return tuple(Attempt(c.name, c.tier, route, judged) for c in candidates)


def _made(
    attempts: tuple[Attempt, ...],
    field: _Field,
    score: Score | None,
    reasons: tuple[str, ...],
    *,
    shadow: str | None = None,
    propensity: float = 1.0,
    notice: str | None = None,
) -> Plan:
    return Plan(
        route=attempts[0].route,
        attempts=attempts,
        thresholds=field.thresholds,
        score=score,
        reasons=reasons,
        dropped=field.narrowed.dropped,
        shadow=shadow,
        propensity=propensity,
        notice=notice,
    )

"""Which side a request is bound for: by the caller, a rule, or its score (R1, R3, R6)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.plan import Route, Score, Thresholds
from hybridge.core.request import Tier, Wish
from hybridge.routing.facts import Facts
from hybridge.routing.rules import Verdict
from hybridge.routing.session import SessionView

HARDEST = 10.0
"""What a request counts whose scoring failed: nothing says that the edge can do it."""


class Side(StrEnum):
    """Where a request is bound for."""

    EDGE = "edge"
    CLOUD = "cloud"
    BOTH = "both"
    """The band between the boundaries."""


class Course(Struct, frozen=True):
    """The decision before it is known who is there to carry it out."""

    side: Side
    route: Route
    """What it is called when that side serves it."""
    score: Score | None
    """This request's own, raised where a rule says so."""
    reasons: tuple[str, ...]
    scored: bool
    """Whether the score decided; only then may it be compared at random."""


def steer(
    facts: Facts,
    *,
    wish: Wish,
    verdict: Verdict | None,
    score: Score | None,
    session: SessionView,
    thresholds: Thresholds,
) -> Course:
    """Decides the side. The caller's wish comes before a rule, a rule before the score."""
    course = (
        _settled(verdict, verdict.tier)
        if verdict is not None and verdict.tier is not None
        else _scored(verdict, score, session, thresholds)
    )
    if wish.tier is not None:
        return _wished(course, wish.tier)
    return _held(course, facts, session, thresholds)


def _settled(verdict: Verdict, tier: Tier) -> Course:
    route = Route.EDGE_RULE if tier is Tier.EDGE else Route.CLOUD_CLASSIFIED
    return Course(Side(tier.value), route, None, (verdict.reason,), scored=False)


def _scored(
    verdict: Verdict | None, score: Score | None, session: SessionView, thresholds: Thresholds
) -> Course:
    """The mean over the session decides, and a rule that saw hard work has the last word."""
    own = score.value if score is not None else HARDEST
    least = (verdict.score_min if verdict is not None else None) or 0.0
    mean = sum((*session.scores, max(own, least))) / (len(session.scores) + 1)
    effective = max(mean, least)
    side = _band(effective, thresholds)
    reasons = (
        *_spoken(score),
        *_raised(verdict, score, least),
        *_averaged(session, mean),
        _placed(effective, side, thresholds),
    )
    return Course(side, _CLASSIFIED[side], _at_least(score, least), reasons, scored=True)


def _wished(course: Course, tier: Tier) -> Course:
    """The caller's word; a rule that says the same keeps its name."""
    said = f"the caller asked for the {tier.value}"
    route = course.route if course.side == tier.value else _CLASSIFIED[Side(tier.value)]
    reasons = (*course.reasons, said)
    return replace(course, side=Side(tier.value), route=route, reasons=reasons, scored=False)


def _held(course: Course, facts: Facts, session: SessionView, thresholds: Thresholds) -> Course:
    """A short follow-up does not pull a session from the cloud by itself (R6)."""
    leaves = course.side is Side.EDGE and session.tier is Tier.CLOUD
    side = _band(HARDEST, thresholds)
    if not (leaves and facts.short_follow_up) or side is Side.EDGE:
        return course
    reasons = (*course.reasons, "a short follow-up: the session stays in the cloud")
    return replace(course, side=side, route=_CLASSIFIED[side], reasons=reasons, scored=False)


_CLASSIFIED = {
    Side.EDGE: Route.EDGE_CLASSIFIED,
    Side.CLOUD: Route.CLOUD_CLASSIFIED,
    Side.BOTH: Route.SHADOW,
}


def _band(effective: float, thresholds: Thresholds) -> Side:
    """R3: the score rounded half up against the two boundaries."""
    rounded = int(effective + 0.5)
    if rounded <= thresholds.edge_max:
        return Side.EDGE
    return Side.CLOUD if rounded >= thresholds.cloud_min else Side.BOTH


def _at_least(score: Score | None, least: float) -> Score | None:
    if score is None or score.value >= least:
        return score
    return replace(score, p=(least - 1.0) / 9.0)


def _spoken(score: Score | None) -> Iterator[str]:
    if score is None:
        yield "no score: cloud by default"
        return
    yield f"score {score.value:.1f} ({score.source})"
    yield from score.reasons


def _raised(verdict: Verdict | None, score: Score | None, least: float) -> Iterator[str]:
    if verdict is None:
        return
    if score is not None and score.value < least:
        yield f"{verdict.reason}: score raised from {score.value:.1f} to {least:.1f}"
    else:
        yield f"{verdict.reason}: at least {least:.1f}"


def _averaged(session: SessionView, mean: float) -> Iterator[str]:
    if session.scores:
        yield f"mean of the session's last {len(session.scores) + 1} scores: {mean:.1f}"


def _placed(effective: float, side: Side, thresholds: Thresholds) -> str:
    rounded = int(effective + 0.5)
    if side is Side.EDGE:
        return f"{rounded} is within edge_max {thresholds.edge_max}"
    if side is Side.CLOUD:
        return f"{rounded} reaches cloud_min {thresholds.cloud_min}"
    between = f"edge_max {thresholds.edge_max} and cloud_min {thresholds.cloud_min}"
    return f"{rounded} lies between {between}"

"""How a plan came out: the answer that serves the request, and what is to be said about it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.plan import Route
from hybridge.execution.answer import Answer


class Outcome(Struct, frozen=True):
    """An answer that may be returned. It is still being read."""

    answer: Answer
    route: Route
    reasons: tuple[str, ...] = ()
    """What happened on the way, to be added to the plan's reasons."""
    notice: str | None = None
    degraded: bool = False


def reached(answer: Answer, route: Route, *reasons: str) -> Outcome:
    """Served by a later attempt than the first, as planned for that case."""
    return Outcome(answer, route, reasons)


def degraded(answer: Answer, why: str | None) -> Outcome:
    """Served by the edge in the cloud's place."""
    return Outcome(
        answer,
        Route.EDGE_DEGRADED,
        reasons=(why,) if why else (),
        notice="The cloud model could not answer; this answer comes from the edge model.",
        degraded=True,
    )


def doubted(outcome: Outcome, bound: float) -> Outcome:
    """The edge is not sure of it, and there is nowhere else to go."""
    confidence = outcome.answer.confidence
    known = "unknown" if confidence is None else f"{confidence:.2f}"
    doubt = f"The edge model's confidence is {known}, below the bound of {bound:.2f}."
    notice = f"{outcome.notice} {doubt}" if outcome.notice else doubt
    return replace(outcome, notice=notice)

"""The caller named a model: that one, its configured fallbacks, or an error (R9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridge.core.errors import UnknownModel
from hybridge.core.plan import Attempt, Plan, Route, Thresholds
from hybridge.core.request import AUTO, Request, Tier
from hybridge.routing.candidate import Candidate
from hybridge.routing.constraints import Count, device_only, narrow


def direct(
    request: Request,
    prompt_tokens: Count,
    thresholds: Thresholds,
    candidates: Sequence[Candidate],
    fallbacks: Mapping[str, Sequence[str]],
) -> Plan:
    """A plan with the named backend and nothing else but the fallbacks configured for it.

    Raises `UnknownModel`, and what `narrow` raises when constraints leave none of them.
    """
    named = _named(request.model, candidates)
    deputies = deputies_of(named.name, request.model, fallbacks)
    narrowed = narrow(request, prompt_tokens, _called(named, deputies, candidates))
    private = device_only(request)
    attempts = tuple(
        Attempt(candidate.name, candidate.tier, _route(candidate, named, private=private))
        for candidate in narrowed.left
    )
    gone = "" if narrowed.left[0] is named else f"; it is gone: {narrowed.dropped[0].reason}"
    first = attempts[0]
    return Plan(
        route=first.route,
        attempts=attempts,
        thresholds=thresholds,
        reasons=(f"the caller named {request.model}{gone}",),
        dropped=narrowed.dropped,
        notice=f"{request.model} cannot be asked now; this answer comes from {first.backend}."
        if gone
        else None,
    )


def deputies_of(named: str, model: str, fallbacks: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Who answers where the named backend cannot; configured by its name or by its model's."""
    listed = fallbacks.get(named) or fallbacks.get(model)
    return tuple(name for name in dict.fromkeys(listed) if name != named) if listed else ()


def _called(
    named: Candidate, deputies: Sequence[str], candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """The named one, then its deputies in their order, each once."""
    if not deputies:
        return (named,)
    by_name = {candidate.name: candidate for candidate in candidates}
    called = {named.name: named} | {name: by_name[name] for name in deputies if name in by_name}
    return tuple(called.values())


def _named(model: str, candidates: Sequence[Candidate]) -> Candidate:
    """By the backend's name first, then by its model's."""
    for candidate in candidates:
        if candidate.name == model:
            return candidate
    for candidate in candidates:
        if candidate.spec.model == model:
            return candidate
    known = [AUTO, *(f"{c.name} ({c.spec.model})" for c in candidates)]
    raise UnknownModel(
        f"no model is called {model!r}; known: {', '.join(known)}",
        param="model",
        code="model_not_found",
    )


def _route(candidate: Candidate, named: Candidate, *, private: bool) -> Route:
    """What it means when this one answers in place of the named one."""
    if candidate is named or candidate.tier is named.tier:
        return Route.DIRECT
    if candidate.tier is Tier.CLOUD:
        return Route.CLOUD_FALLBACK
    return Route.EDGE_PRIVATE if private else Route.EDGE_DEGRADED

"""What rules a backend out (R7). Constraints come first, and they can only remove."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from hybridge.core.errors import (
    RATE_LIMITED,
    HybridgeError,
    NotServed,
    PrivacyNoLocalPath,
    Unsupported,
)
from hybridge.core.plan import Dropped
from hybridge.core.request import Clearance, Feature, Request, Tier
from hybridge.routing.candidate import Candidate

ANSWER_TOKENS = 256
"""Room for the answer where the caller names no limit."""

_PARAMS = {
    Feature.TOOLS: "tools",
    Feature.JSON: "response_format",
    Feature.JSON_SCHEMA: "response_format",
    Feature.IMAGES: "messages",
    Feature.AUDIO: "messages",
    Feature.FILES: "messages",
    Feature.LOGPROBS: "logprobs",
    Feature.CHOICES: "n",
    Feature.REASONING: "reasoning_effort",
}

Fallen = list[tuple[Candidate, str]]
Count = Callable[[], int]
"""The prompt's tokens, counted only where somebody's context is limited."""


class Narrowed(Struct, frozen=True):
    """The candidates that are left, and those that are not."""

    left: tuple[Candidate, ...]
    fallen: tuple[tuple[Candidate, str, str], ...] = ()
    """Candidate, reason, and name of the constraint."""

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        return tuple(Dropped(candidate.name, reason) for candidate, reason, _ in self.fallen)

    def of(self, tier: Tier) -> tuple[Candidate, ...]:
        """Those of a tier that are left."""
        return tuple(candidate for candidate in self.left if candidate.tier is tier)

    def lost(self, tier: Tier, *constraints: str) -> tuple[str, ...]:
        """Why those of a tier are gone, as far as these constraints did it."""
        return tuple(
            reason
            for candidate, reason, name in self.fallen
            if candidate.tier is tier and name in constraints
        )


class _Constraint(Struct, frozen=True):
    name: str
    refusal: Callable[[Candidate], str | None]
    error: Callable[[Fallen], HybridgeError]
    """What to raise when nobody is left after it."""


PRIVACY, WISH, FEATURES, CONTEXT = "privacy", "wish", "features", "context"
LATENCY, AVAILABILITY = "latency", "availability"


def device_only(request: Request) -> bool:
    """Whether the request must stay here: it holds personal data, or the caller says so."""
    return request.clearance is Clearance.DEVICE_ONLY or request.wish.private


def narrow(request: Request, prompt_tokens: Count, candidates: Sequence[Candidate]) -> Narrowed:
    """Removes who cannot serve the request.

    Who is merely slow, or still loads, stays where nobody else is left.

    Raises `PrivacyNoLocalPath`, `Unsupported` or `NotServed` for the constraint that removes the
    last one. What passes by itself (availability) is looked at last, so that a request that can
    never be served is not told to come back.
    """
    if not candidates:
        raise NotServed("no backend is configured")
    narrowed = Narrowed(tuple(candidates))
    for constraint in _constraints(request, prompt_tokens, candidates):
        fallen = [
            (candidate, reason)
            for candidate in narrowed.left
            if (reason := constraint.refusal(candidate)) is not None
        ]
        if not fallen:
            continue
        gone = {candidate.name for candidate, _ in fallen}
        left = tuple(c for c in narrowed.left if c.name not in gone)
        if not left and constraint.name is AVAILABILITY:
            left = tuple(candidate for candidate, _ in fallen if candidate.in_need)
            fallen = [(candidate, why) for candidate, why in fallen if not candidate.in_need]
        if not left:
            raise _final(constraint, request, fallen)
        lost = ((candidate, why, constraint.name) for candidate, why in fallen)
        narrowed = Narrowed(left, (*narrowed.fallen, *lost))
    return narrowed


def _final(constraint: _Constraint, request: Request, fallen: Fallen) -> HybridgeError:
    """Where privacy has narrowed it to this device, any lasting lack is a lack of a local path."""
    if device_only(request) and constraint.name not in (PRIVACY, AVAILABILITY):
        return PrivacyNoLocalPath(f"the request may not leave this device, and {_said(fallen)}")
    return constraint.error(fallen)


def _constraints(
    request: Request, prompt_tokens: Count, candidates: Sequence[Candidate]
) -> Sequence[_Constraint]:
    """Those that this request can run into with these candidates, in order."""
    wish = request.wish
    private = device_only(request)
    found = []
    if private:
        found.append(_Constraint(PRIVACY, _leaves, _no_local_path))
    if wish.tier is not None:
        found.append(_wished(wish.tier))
    if request.features:
        found.append(_featured(request.features))
    if any(candidate.spec.context_tokens is not None for candidate in candidates):
        found.append(_fitting(prompt_tokens, request.max_tokens or ANSWER_TOKENS))
    if wish.max_latency_s is not None:
        found.append(_fast(wish.max_latency_s))
    if any(candidate.unavailable is not None for candidate in candidates):
        found.append(_available(private=private))
    return found


def _leaves(candidate: Candidate) -> str | None:
    if candidate.spec.leaves_device:
        return "privacy: it is on another machine"
    return "privacy: only the edge may answer" if candidate.tier is Tier.CLOUD else None


def _no_local_path(fallen: Fallen) -> HybridgeError:
    return PrivacyNoLocalPath(
        f"the request may not leave this device, and nothing here can serve it: {_said(fallen)}"
    )


def _wished(tier: Tier) -> _Constraint:
    def error(_: Fallen) -> HybridgeError:
        return Unsupported(
            f"x-hybridge-route asks for the {tier.value}, where no backend may be asked",
            param="x-hybridge-route",
            code="route_not_possible",
        )

    reason = f"the caller asked for the {tier.value}"
    return _Constraint(WISH, lambda c: None if c.tier is tier else reason, error)


def _featured(features: frozenset[Feature]) -> _Constraint:
    def refusal(candidate: Candidate) -> str | None:
        missing = sorted(features - candidate.spec.features)
        return f"cannot do: {', '.join(missing)}" if missing else None

    def error(fallen: Fallen) -> HybridgeError:
        able = max((c.spec.features for c, _ in fallen), key=lambda has: len(has & features))
        missing = min(features - able)
        param = _PARAMS[missing]
        return Unsupported(
            f"no backend can do {missing.value!r}, which `{param}` asks for ({_said(fallen)})",
            param=param,
            code="unsupported_parameter",
        )

    return _Constraint(FEATURES, refusal, error)


def _fitting(prompt_tokens: Count, answer: int) -> _Constraint:
    def need() -> str:
        return (
            f"about {prompt_tokens() + answer} tokens ({prompt_tokens()} prompt + {answer} answer)"
        )

    def refusal(candidate: Candidate) -> str | None:
        room = candidate.spec.context_tokens
        if room is None or prompt_tokens() + answer <= room:
            return None
        return f"too long: {need()}, its context is {room}"

    def error(fallen: Fallen) -> HybridgeError:
        room = max(candidate.spec.context_tokens or 0 for candidate, _ in fallen)
        return Unsupported(
            f"the request needs {need()}; the longest context here is {room} tokens",
            param="messages",
            code="context_length_exceeded",
        )

    return _Constraint(CONTEXT, refusal, error)


def _fast(limit_s: float) -> _Constraint:
    def refusal(candidate: Candidate) -> str | None:
        measured = candidate.latency_s
        if measured is None or measured <= limit_s:
            return None
        return f"too slow: {1000 * measured:.0f} ms measured, {1000 * limit_s:.0f} ms allowed"

    def error(fallen: Fallen) -> HybridgeError:
        return Unsupported(
            f"no backend is as fast as x-hybridge-max-latency-ms asks for: {_said(fallen)}",
            param="x-hybridge-max-latency-ms",
            code="latency_not_possible",
        )

    return _Constraint(LATENCY, refusal, error)


def _available(*, private: bool) -> _Constraint:
    def error(fallen: Fallen) -> HybridgeError:
        waits = [c.retry_after_s for c, _ in fallen if c.retry_after_s is not None]
        return NotServed(
            f"nobody can answer now: {_said(fallen)}",
            retry_after_s=max(1.0, min(waits, default=1.0)),
            code="privacy_local_unavailable" if private else _code(fallen),
        )

    return _Constraint(AVAILABILITY, lambda candidate: candidate.unavailable, error)


def _code(fallen: Fallen) -> str:
    return RATE_LIMITED if all(c.limited for c, _ in fallen) else "unavailable"


def _said(fallen: Fallen) -> str:
    return "; ".join(f"{candidate.name}: {reason}" for candidate, reason in fallen)

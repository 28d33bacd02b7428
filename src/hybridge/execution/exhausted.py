"""What a request comes to when nobody answered it: one error made of all that failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hybridge.core.errors import (
    RATE_LIMITED,
    BackendError,
    Blame,
    Fault,
    HybridgeError,
    NotServed,
    PrivacyNoLocalPath,
    Unsupported,
)
from hybridge.core.plan import Dropped, Plan, Route


def exhausted(
    plan: Plan, failures: Sequence[BackendError], waits_s: Iterable[float]
) -> HybridgeError:
    """What to raise after `failures`, in the order in which they came, at least one.

    `waits_s`: for how long each backend is left alone, 0 where it is not. A named model keeps its
    own error (R9); a request at fault is told so; anybody else is told when to come back.
    """
    if plan.route is Route.DIRECT:
        return failures[0]
    private = plan.route is Route.EDGE_PRIVATE
    if all(failure.fault.blame is Blame.CALLER for failure in failures):
        return _hopeless(failures, private=private)
    waits = [*waits_s, *(failure.retry_after_s or 0.0 for failure in failures)]
    who = "the request may not leave this device, and here" if private else "nobody could answer"
    return NotServed(
        f"{who}: {_said(failures)}{_passed_over(plan.dropped)}",
        retry_after_s=max(1.0, min((wait for wait in waits if wait > 0), default=1.0)),
        code="privacy_local_unavailable" if private else _code(failures),
    )


def _hopeless(failures: Sequence[BackendError], *, private: bool) -> HybridgeError:
    if private and all(failure.fault.elsewhere for failure in failures):
        return PrivacyNoLocalPath(f"the request may not leave this device, and {_said(failures)}")
    if not any(failure.fault is Fault.CONTEXT for failure in failures):
        return failures[0]
    return Unsupported(
        f"the request is too long for every model that could be asked: {_said(failures)}",
        param="messages",
        code="context_length_exceeded",
    )


def _code(failures: Sequence[BackendError]) -> str:
    return RATE_LIMITED if all(map(_is_limited, failures)) else "unavailable"


def _is_limited(failure: BackendError) -> bool:
    """Whether a rate limit kept it from answering, now or when it was met before."""
    refused = failure.fault is Fault.REFUSED and (failure.body or {}).get("code") == RATE_LIMITED
    return refused or failure.fault is Fault.LIMITED


def _passed_over(dropped: Sequence[Dropped]) -> str:
    """Who could not have served it anyhow, and why: a caller may wonder."""
    reasons = "; ".join(f"{gone.backend}: {gone.reason}" for gone in dropped)
    return f"; not asked: {reasons}" if reasons else ""


def _said(failures: Sequence[BackendError]) -> str:
    return "; ".join(map(str, failures))

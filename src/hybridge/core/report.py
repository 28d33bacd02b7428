"""The account that goes with every answer (SPEC section 12): the `hybridge` object, as a value."""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct

from hybridge.core.plan import Dropped, Plan, Route, Thresholds


class Report(Struct, frozen=True):
    """How one request was, or would be, served."""

    request_id: str
    route: Route
    tier: str
    model: str
    """Name of the model that answered, or would be asked first."""
    score: float | None
    """1-10; None where something settled the request before it was scored."""
    confidence: float | None
    reasons: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    degraded: bool
    notice: str | None
    thresholds: Thresholds
    overhead_ms: float
    cost_usd: Decimal | None
    saved_usd: Decimal | None

    @classmethod
    def of_plan(cls, plan: Plan, *, request_id: str, model: str, overhead_ms: float) -> Report:
        """What a plan intends, before anything ran."""
        first = plan.attempts[0]
        return cls(
            request_id=request_id,
            route=plan.route,
            tier=first.tier.value,
            model=model,
            score=None if plan.score is None else round(plan.score.value, 2),
            confidence=None,
            reasons=plan.reasons,
            dropped=plan.dropped,
            degraded=plan.route is Route.EDGE_DEGRADED,
            notice=plan.notice,
            thresholds=plan.thresholds,
            overhead_ms=overhead_ms,
            cost_usd=None,
            saved_usd=None,
        )

"""When something is wrong: pure rules, from what happened to findings."""

from __future__ import annotations

from decimal import Decimal

from hybridge.core.events import BreakerMoved, HealthMoved
from hybridge.core.request import Tier
from hybridge.telemetry.alerts.alert import Finding, Name
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.alerts.moving import Means, Moving

LATENCY_LATE_S, LATENCY_BEFORE_S = 300.0, 86_400.0
AGREEMENT_LATE_S, AGREEMENT_BEFORE_S = 6 * 3600.0, 7 * 86_400.0
BUDGET_SHARE = Decimal("0.95")
"""Of a daily budget: it refuses what could exceed it, so that it is never quite used up."""


def health(moved: HealthMoved) -> Finding:
    """Three failed probes in a row make a backend unavailable, and so does a model that cannot be
    loaded (R42); one good probe ends it."""
    return Finding(Name.BACKEND_UNAVAILABLE, moved.backend, not moved.available)


def breaker(moved: BreakerMoved) -> Finding | None:
    """An open breaker is wrong until it is closed; half open says nothing yet."""
    if moved.new == "half_open":
        return None
    return Finding(Name.BREAKER_OPEN, moved.backend, moved.new == "open")


def cost_limit(told: Decimal | None, budget: Decimal | None) -> Decimal | None:
    """From which spending on it is told, USD a day."""
    if told is None or budget is None or told < budget:
        return told
    return budget * BUDGET_SHARE


def cost(spent: Decimal, limit: Decimal | None) -> Finding:
    """Money spent on clouds since the day began."""
    bad = limit is not None and spent > 0 and spent >= limit
    value = None if limit is None else float(limit)
    return Finding(Name.CLOUD_COST, Tier.CLOUD.value, bad, float(spent), value)


def latency(tier: Tier, means: Means, config: AlertsConfig) -> Finding:
    """Milliseconds of late, against those of the time before."""
    late, before = means.late, means.before
    enough = min(late.count, before.count) >= config.latency_min_requests
    if config.latency_ratio is None or not enough:
        return Finding(Name.LATENCY, tier.value, bad=False)
    limit = before.value * config.latency_ratio
    return Finding(Name.LATENCY, tier.value, late.value > limit, late.value, limit)


def agreement(means: Means, config: AlertsConfig) -> Finding:
    """The share of comparisons that agreed of late, against that of the time before."""
    late, before = means.late, means.before
    enough = min(late.count, before.count) >= config.agreement_min_comparisons
    if config.agreement_drop is None or not enough:
        return Finding(Name.AGREEMENT, "shadow", bad=False)
    limit = before.value - config.agreement_drop
    return Finding(Name.AGREEMENT, "shadow", late.value < limit, late.value, limit)


def latencies() -> dict[Tier, Moving]:
    """Where the latencies of each tier are added up."""
    return {tier: Moving(LATENCY_LATE_S, LATENCY_BEFORE_S) for tier in Tier}


def agreements() -> Moving:
    """Where it is added up how often both tiers agreed."""
    return Moving(AGREEMENT_LATE_S, AGREEMENT_BEFORE_S)

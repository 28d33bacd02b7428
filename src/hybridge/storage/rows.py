"""From events to rows, each value clipped to what its column holds."""

from __future__ import annotations

from typing import Any

from sqlalchemy import String, Table

from hybridge.core.events import Compared, Served
from hybridge.storage.schema import comparisons, decisions


def decision(event: Served) -> dict[str, Any]:
    """The row of one request in `decisions`."""
    plan, usage = event.plan, event.usage
    score = plan.score if plan else None
    return _fitting(
        decisions,
        {
            "request_id": event.request_id,
            "at": event.at,
            "tenant": event.tenant,
            "session": event.session,
            "route": event.route and event.route.value,
            "tier": event.tier and event.tier.value,
            "backend": event.backend,
            # an upstream's own words; PostgreSQL refuses a whole batch for one such character
            "model": event.model and event.model.replace("\0", ""),
            "version": event.version or None,
            "score": score and score.value,
            "p": score and score.p,
            "scorer": score and score.version,
            "confidence": event.confidence,
            "degraded": event.degraded,
            "stream": event.stream,
            "edge_max": plan and plan.thresholds.edge_max,
            "cloud_min": plan and plan.thresholds.cloud_min,
            "thresholds": plan and plan.thresholds.version,
            "propensity": plan and plan.propensity,
            "reasons": list(plan.reasons) if plan else [],
            "dropped": [[d.backend, d.reason] for d in plan.dropped] if plan else [],
            "overhead_ms": event.overhead_ms,
            "first_event_ms": event.first_event_ms,
            "latency_ms": event.latency_ms,
            "prompt_tokens": usage and usage.prompt_tokens,
            "completion_tokens": usage and usage.completion_tokens,
            "usage_estimated": usage and usage.estimated,
            "cost_usd": event.cost_usd,
            "saved_usd": event.saved_usd,
            "error": event.error,
        },
    )


def comparison(event: Compared) -> dict[str, Any]:
    """The row of one comparison in `comparisons`."""
    score = event.score
    return _fitting(
        comparisons,
        {
            "request_id": event.request_id,
            "at": event.at,
            "task": event.task,
            "score": score and score.value,
            "p": score and score.p,
            "propensity": event.propensity,
            "edge_backend": event.edge_backend,
            "cloud_backend": event.cloud_backend,
            "edge_version": event.edge_version,
            "scorer_version": event.scorer_version,
            "edge_digest": event.edge_digest,
            "cloud_digest": event.cloud_digest,
            "similarity": event.similarity,
            "agreed": event.agreed,
            "method": event.method,
            "edge_confidence": event.edge_confidence,
            "edge_ms": event.edge_ms,
            "cloud_ms": event.cloud_ms,
            "view": event.view,
            "head_version": event.head_version,
        },
    )


def _longest(table: Table) -> tuple[tuple[str, int], ...]:
    return tuple(
        (column.name, column.type.length)
        for column in table.columns
        if isinstance(column.type, String) and column.type.length is not None
    )


_LONGEST = {table: _longest(table) for table in (decisions, comparisons)}


def _fitting(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL refuses a whole batch for one value that is too long."""
    for name, length in _LONGEST[table]:
        value = row[name]
        if value is not None and len(value) > length:
            row[name] = value[:length]
    return row

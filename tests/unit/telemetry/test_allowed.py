"""What keys have spent and may still ask for, as Prometheus reads it (R61, R80)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hybridge.budget.allowance import Allowances, Limits
from hybridge.budget.config import BudgetConfig
from hybridge.budget.ledger import Ledger
from hybridge.core.errors import RateLimited
from hybridge.telemetry.metrics import Metrics
from hybridge.testing.clock import ManualClock


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"hybridge_{name}", labels)


def test_the_books_show_as_they_are_when_somebody_looks(metrics: Metrics) -> None:
    books = Ledger(BudgetConfig(daily_usd=Decimal(10)), {"team": Decimal(4)}, ManualClock())
    metrics.allowed.watch_budget(books.status)
    today, team = {"period": "daily", "key": "*"}, {"period": "daily", "key": "team"}
    with books.reserve("team", Decimal(3)) as promised:
        assert value(metrics, "budget_reserved_usd", **team) == 3
        assert value(metrics, "budget_left_usd", **team) == 1
        promised.settle(None, assumed=Decimal(2))
    assert value(metrics, "budget_spent_usd", **today) == 2
    assert value(metrics, "budget_assumed_usd", **today) == 2
    assert value(metrics, "budget_left_usd", **today) == 8
    assert value(metrics, "budget_reserved_usd", **team) == 0


def test_what_has_no_limit_has_nothing_left_to_show(metrics: Metrics) -> None:
    metrics.allowed.watch_budget(Ledger(BudgetConfig(), {}, ManualClock()).status)
    assert value(metrics, "budget_left_usd", period="monthly", key="*") is None
    assert value(metrics, "budget_spent_usd", period="monthly", key="*") == 0


def test_requests_under_way_and_refused_of_a_key(metrics: Metrics) -> None:
    keys = Allowances(
        {"team": Limits(max_parallel=1)}, ManualClock(), refused=metrics.allowed.refused
    )
    metrics.allowed.watch_keys(keys.under_way)
    slot = keys.enter("team", lambda: 0)
    assert slot is not None
    with slot:
        assert value(metrics, "key_in_flight", key="team") == 1
        with pytest.raises(RateLimited):
            keys.enter("team", lambda: 0)
    assert value(metrics, "key_in_flight", key="team") == 0
    assert value(metrics, "rate_limited_total", key="team", limit="max_parallel") == 1


def test_without_a_source_there_is_nothing_to_show(metrics: Metrics) -> None:
    assert value(metrics, "budget_spent_usd", period="daily", key="*") is None
    assert b"hybridge_budget_spent_usd" in metrics.render()

"""R80: what is counted, and that it is documented."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from hybridge.core.errors import Fault
from hybridge.core.events import (
    AttemptFailed,
    BreakerMoved,
    Compared,
    ModelLoaded,
    ModelSwitched,
    SecondOpinion,
    Served,
    ShadowDropped,
)
from hybridge.core.plan import Attempt, Plan, Route, Score, Thresholds
from hybridge.core.request import Tier
from hybridge.core.response import Usage
from hybridge.telemetry.metrics import Metrics

PAGE = Path(__file__).parents[3] / "docs/reference/metrics.md"
NOW = datetime(2030, 1, 1, tzinfo=UTC)
SCORE = Score(p=0.5, source="prior", version="1")
PLAN = Plan(
    Route.CLOUD_CLASSIFIED,
    (Attempt("gpt", Tier.CLOUD, Route.CLOUD_CLASSIFIED),),
    Thresholds(),
    score=SCORE,
)
SERVED = Served(
    request_id="r",
    at=NOW,
    tenant="team",
    session="s",
    plan=PLAN,
    route=Route.CLOUD_CLASSIFIED,
    tier=Tier.CLOUD,
    backend="gpt",
    model="gpt-4o",
    confidence=None,
    degraded=False,
    stream=True,
    overhead_ms=0.3,
    first_event_ms=120.0,
    latency_ms=900.0,
    usage=Usage(10, 20),
    cost_usd=Decimal("0.25"),
    saved_usd=Decimal(0),
)
FAILED = replace(SERVED, route=None, tier=None, backend=None, model=None, usage=None,
                 first_event_ms=None, cost_usd=None, error="NotServed")  # fmt: skip
COMPARED = Compared(
    request_id="r", at=NOW, task="qa", score=SCORE, propensity=1.0, edge_backend="local",
    cloud_backend="gpt", edge_version="", scorer_version="", edge_digest="", cloud_digest="",
    similarity=0.9, agreed=True, method="similarity", edge_confidence=0.8, edge_ms=1.0,
    cloud_ms=2.0,
)  # fmt: skip
BY_GPT = {"route": "cloud_classified", "tier": "cloud", "backend": "gpt"}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def value(metrics):
    """A sample's value; 0 when there is none."""

    def of(name: str, **labels: str) -> float:
        return metrics.registry.get_sample_value(f"hybridge_{name}", labels) or 0.0

    return of


def test_a_served_request(metrics, value):
    metrics.on_event(SERVED)
    assert value("requests_total", **BY_GPT, outcome="served") == 1
    assert value("request_seconds_sum", **BY_GPT) == pytest.approx(0.9)
    assert value("first_event_seconds_sum", **BY_GPT) == pytest.approx(0.12)
    assert value("overhead_seconds_sum") == pytest.approx(0.0003)
    assert value("score_bucket", le="5.5") == 1
    assert value("score_bucket", le="4.5") == 0
    assert value("confidence_count") == 0
    assert value("cloud_calls_total", backend="gpt") == 1
    assert value("cost_usd_total", backend="gpt") == 0.25
    assert value("tokens_total", tier="cloud", backend="gpt", kind="completion") == 20


def test_a_request_that_nobody_served(metrics, value):
    metrics.on_event(FAILED)
    assert value(
        "requests_total", route="none", tier="none", backend="none", outcome="failed"
    ) == 1  # fmt: skip
    assert value("unknown_cost_total", backend="none") == 0


@pytest.mark.parametrize(("error", "outcome"), [("cancelled", "cancelled"), ("X", "failed")])
def test_outcomes(metrics, value, error, outcome):
    metrics.on_event(replace(SERVED, error=error))
    assert value("requests_total", **BY_GPT, outcome=outcome) == 1
    broken = value("cloud_errors_total", backend="gpt", fault="broken_off")
    assert broken == (outcome == "failed")


def test_an_edge_answer(metrics, value):
    edge = {"route": Route.EDGE_RULE, "tier": Tier.EDGE, "backend": "local"}
    metrics.on_event(
        replace(SERVED, **edge, confidence=0.95, cost_usd=Decimal(0), saved_usd=Decimal("0.1"))
    )
    assert value("confidence_bucket", le="0.95") == 1
    assert value("confidence_bucket", le="0.9") == 0
    assert value("saved_usd_total") == pytest.approx(0.1)
    assert value("cloud_calls_total", backend="local") == 0


def test_a_cached_answer_is_no_call(metrics, value):
    metrics.on_event(replace(SERVED, route=Route.CACHE))
    assert value("cloud_calls_total", backend="gpt") == 0
    assert value("tokens_total", tier="cloud", backend="gpt", kind="prompt") == 0


def test_a_cost_that_is_unknown_is_never_zero(metrics, value):
    metrics.on_event(replace(SERVED, cost_usd=None))
    assert value("unknown_cost_total", backend="gpt") == 1


def test_second_opinions_and_their_tokens(metrics, value):
    metrics.on_event(SecondOpinion("r", "local", "agreed", Usage(30, 4)))
    metrics.on_event(SecondOpinion("r", "local", "late", None))
    for outcome in ("agreed", "late"):
        assert value("second_opinions_total", backend="local", outcome=outcome) == 1
    assert value("second_opinion_tokens_total", backend="local", kind="prompt") == 30
    assert value("second_opinion_tokens_total", backend="local", kind="completion") == 4
    assert value("tokens_total", tier="edge", backend="local", kind="completion") in (0, None)


def test_failed_attempts(metrics, value):
    metrics.on_event(AttemptFailed("r", "local", Tier.EDGE, Fault.TIMEOUT))
    metrics.on_event(AttemptFailed("r", "gpt", Tier.CLOUD, Fault.BUSY))
    metrics.on_event(AttemptFailed("r", "gpt", Tier.CLOUD, Fault.REFUSED))
    assert value("edge_failures_total", backend="local", fault="timeout") == 1
    assert value("cloud_errors_total", backend="gpt", fault="busy") == 1
    assert value("cloud_calls_total", backend="gpt") == 1, "a refused one was not made"


def test_an_attempt_that_never_began_is_counted_once(metrics, value):
    """It is told of when it fails, and again, with what it may have cost, when the request ends."""
    metrics.on_event(AttemptFailed("r", "gpt", Tier.CLOUD, Fault.TIMEOUT))
    lost = {"tier": Tier.CLOUD, "backend": "gpt", "cost_usd": Decimal("0.5")}
    metrics.on_event(replace(FAILED, **lost))
    assert value("cloud_calls_total", backend="gpt") == 1
    assert value("cloud_errors_total", backend="gpt", fault="timeout") == 1
    assert value("cloud_errors_total", backend="gpt", fault="broken_off") == 0
    assert value("cost_usd_total", backend="gpt") == 0.5


def test_shadow(metrics, value):
    metrics.on_event(COMPARED)
    metrics.on_event(replace(COMPARED, agreed=False, similarity=None))
    metrics.on_event(ShadowDropped("r", "queue_full"))
    assert value("shadow_total", outcome="agreed") == 1
    assert value("shadow_total", outcome="disagreed") == 1
    assert value("shadow_similarity_count") == 1
    assert value("shadow_dropped_total", reason="queue_full") == 1


def test_states(metrics, value):
    for new, number in (("open", 2), ("half_open", 1), ("closed", 0)):
        metrics.on_event(BreakerMoved("gpt", "closed", new, "5 failures"))
        assert metrics.registry.get_sample_value(
            "hybridge_breaker_state", {"backend": "gpt"}
        ) == number  # fmt: skip
    metrics.on_event(ModelLoaded("local", 1.5))
    assert value("model_load_seconds", backend="local") == 1.5
    metrics.on_event(ModelSwitched("local", "m", "1a2b", "rolled_back", "it failed"))
    assert value("model_switches_total", backend="local", outcome="rolled_back") == 1
    metrics.watch_in_flight(lambda: 3)
    assert value("in_flight") == 3


def test_what_a_caller_says_is_never_a_label(metrics):
    odd = "ignore all instructions"
    metrics.on_event(replace(SERVED, tenant=odd, session=odd, model=odd, request_id=odd))
    assert odd not in metrics.render().decode()


def test_two_gateways_in_one_process_do_not_share(metrics, value):
    Metrics().on_event(SERVED)
    assert value("requests_total", **BY_GPT, outcome="served") == 0


def test_every_metric_is_documented(metrics):
    """docs/reference/metrics.md has exactly the metrics that there are, with their labels."""
    rows = re.findall(r"^\| `(hybridge_\w+)` \| (\w+) \| (.*?) \|", PAGE.read_text(), re.MULTILINE)
    documented = {
        (name, kind, ", ".join(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows
    }
    there = set()
    for collector in metrics.registry._collector_to_names:
        (family,) = collector.describe()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = getattr(collector, "label_names", None) or getattr(collector, "_labelnames", ())
        there.add((name, family.type, ", ".join(labels)))
    assert documented == there

"""What Prometheus reads (R80): counts made of the gateway's events, on a registry of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from hybridge._version import __version__
from hybridge.core.errors import Fault
from hybridge.core.events import (
    AttemptFailed,
    BreakerMoved,
    Compared,
    GatewayEvent,
    ModelLoaded,
    Served,
    ShadowDropped,
)
from hybridge.core.request import Tier

_NONE = "none"
"""The value of a label where there is nothing to say, so that it is never empty."""
_BREAKER = {"closed": 0, "half_open": 1, "open": 2}
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_OVERHEAD = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25)
_SCORES = tuple(score + 0.5 for score in range(1, 10))
"""Boundaries between whole scores, since those are what the bands compare (R3)."""
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


class Metrics:
    """Subscribes to the gateway's events with `on_event`, and shows them with `render`.

    Labels are bounded: routes, tiers, faults and configured backends, never a caller's words. What
    belongs to them is looked up once, for the library takes its time over it.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        of_request = ("route", "tier", "backend")
        self._requests = self._counter(
            "requests", "Requests that are over.", *of_request, "outcome"
        )
        self._seconds = self._histogram(
            "request_seconds", "From arrival to the last event of an answer.", _SECONDS, *of_request
        )
        self._first = self._histogram(
            "first_event_seconds", "From arrival to an answer's first event.", _SECONDS, *of_request
        )
        self._overhead = self._plain_histogram(
            "overhead_seconds", "From arrival until it was decided whom to ask.", _OVERHEAD
        )
        self._score = self._plain_histogram(
            "score", "Complexity of scored requests, 1-10.", _SCORES
        )
        self._confidence = self._plain_histogram(
            "confidence", "Confidence of returned edge answers, 0-1.", _SHARES
        )
        self._tokens = self._counter(
            "tokens", "Tokens of answered requests.", "tier", "backend", "kind"
        )
        self._edge_failures = self._counter(
            "edge_failures", "Calls that an edge backend failed.", "backend", "fault"
        )
        self._cloud_calls = self._counter("cloud_calls", "Calls made to a cloud.", "backend")
        self._cloud_errors = self._counter(
            "cloud_errors", "Calls that a cloud failed.", "backend", "fault"
        )
        self._cost = self._counter("cost_usd", "Money spent, in USD.", "backend")
        self._saved = Counter(
            "hybridge_saved_usd", "Money saved against all-cloud, in USD.", registry=self.registry
        )
        self._unpriced = self._counter(
            "unknown_cost", "Answers whose cost is unknown, for want of a price.", "backend"
        )
        self._shadow = self._counter("shadow", "Shadow comparisons made.", "outcome")
        self._similarity = self._plain_histogram(
            "shadow_similarity", "Similarity of compared answers, 0-1.", _SHARES
        )
        self._shadow_dropped = self._counter(
            "shadow_dropped", "Shadow comparisons not made.", "reason"
        )
        self._breaker = self._gauge("breaker_state", "0 closed, 1 half open, 2 open.", "backend")
        self._load = self._gauge(
            "model_load_seconds", "How long a local model took to load, last time.", "backend"
        )
        self._in_flight = Gauge("hybridge_in_flight", "Requests under way.", registry=self.registry)
        self._gauge("build_info", "1; the version is in the label.", "version")(__version__).set(1)

    def render(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self.registry)

    def watch_in_flight(self, count: Callable[[], int]) -> None:
        """Where to read the number of requests under way, whenever somebody looks."""
        self._in_flight.set_function(count)

    def on_event(self, event: GatewayEvent) -> None:
        """Counts one event. Cheap enough for the request path."""
        match event:
            case Served():
                self._on_served(event)
            case AttemptFailed():
                self._on_failed(event)
            case Compared():
                self._shadow("agreed" if event.agreed else "disagreed").inc()
                if event.similarity is not None:
                    self._similarity.observe(event.similarity)
            case ShadowDropped():
                self._shadow_dropped(event.reason).inc()
            case BreakerMoved():
                self._breaker(event.backend).set(_BREAKER[event.new])
            case ModelLoaded():
                self._load(event.backend).set(event.seconds)

    def _on_served(self, served: Served) -> None:
        labels = (served.route or _NONE, served.tier or _NONE, served.backend or _NONE)
        self._requests(*labels, _outcome(served)).inc()
        self._seconds(*labels).observe(served.latency_ms / 1000)
        if served.first_event_ms is not None:
            self._first(*labels).observe(served.first_event_ms / 1000)
        if served.plan is not None:
            self._overhead.observe(served.overhead_ms / 1000)
            if served.plan.score is not None:
                self._score.observe(served.plan.score.value)
        if served.confidence is not None:
            self._confidence.observe(served.confidence)
        if served.backend is not None:
            self._on_answer(served, served.backend)

    def _on_answer(self, served: Served, backend: str) -> None:
        if served.route != "cache" and served.tier is Tier.CLOUD:
            self._cloud_calls(backend).inc()
            if _outcome(served) == "failed":
                self._cloud_errors(backend, "broken_off").inc()
        if served.route != "cache" and served.tier is Tier.EDGE and _outcome(served) == "failed":
            self._edge_failures(backend, "broken_off").inc()
        self._on_usage(served, backend)
        self._on_money(served, backend)

    def _on_usage(self, served: Served, backend: str) -> None:
        if served.usage is not None and served.tier is not None and served.route != "cache":
            self._tokens(served.tier, backend, "prompt").inc(served.usage.prompt_tokens)
            self._tokens(served.tier, backend, "completion").inc(served.usage.completion_tokens)

    def _on_money(self, served: Served, backend: str) -> None:
        if served.cost_usd is None:
            self._unpriced(backend).inc()
        elif served.cost_usd:
            self._cost(backend).inc(float(served.cost_usd))
        if served.saved_usd:
            self._saved.inc(float(served.saved_usd))

    def _on_failed(self, failed: AttemptFailed) -> None:
        if failed.tier is Tier.EDGE:
            self._edge_failures(failed.backend, failed.fault).inc()
            return
        self._cloud_errors(failed.backend, failed.fault).inc()
        if failed.fault is not Fault.REFUSED:
            self._cloud_calls(failed.backend).inc()

    def _counter(self, name: str, help_text: str, *labels: str) -> Callable[..., Counter]:
        return cache(Counter(f"hybridge_{name}", help_text, labels, registry=self.registry).labels)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Callable[..., Gauge]:
        return cache(Gauge(f"hybridge_{name}", help_text, labels, registry=self.registry).labels)

    def _histogram(
        self, name: str, help_text: str, buckets: tuple[float, ...], *labels: str
    ) -> Callable[..., Histogram]:
        return cache(self._plain_histogram(name, help_text, buckets, *labels).labels)

    def _plain_histogram(
        self, name: str, help_text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(
            f"hybridge_{name}", help_text, labels, buckets=buckets, registry=self.registry
        )


def _outcome(served: Served) -> str:
    if served.error is None:
        return "served"
    return "cancelled" if served.error == "cancelled" else "failed"

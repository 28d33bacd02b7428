"""What Prometheus reads (R80): counts made of the gateway's events, on a registry of their own."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from hybridge._version import __version__
from hybridge.core.errors import Fault
from hybridge.core.events import (
    AttemptFailed,
    BreakerMoved,
    Compared,
    GatewayEvent,
    HealthMoved,
    Inferred,
    Judged,
    ModelLoaded,
    ModelSwitched,
    SecondOpinion,
    Served,
    ShadowDropped,
)
from hybridge.core.request import Clearance, Tier
from hybridge.telemetry.allowed import Allowed
from hybridge.telemetry.inference import Inference
from hybridge.telemetry.learned import Learned
from hybridge.telemetry.series import Counts, Spread

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

    Labels are bounded: routes, tiers, faults and configured backends, never a caller's words.
    """

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        of_request = ("route", "tier", "backend")
        self._requests = self._counter(
            "requests", "Requests that are over.", *of_request, "outcome"
        )
        self._private = self._counter(
            "private_requests_total",
            "Requests that might not leave this device as they were.",
            "clearance",
            "outcome",
        )
        self._seconds = self._histogram(
            "request_seconds", "From arrival to the last event of an answer.", _SECONDS, *of_request
        )
        self._first = self._histogram(
            "first_event_seconds", "From arrival to an answer's first event.", _SECONDS, *of_request
        )
        self._overhead = self._histogram(
            "overhead_seconds", "From arrival until it was decided whom to ask.", _OVERHEAD
        )
        self._score = self._histogram("score", "Complexity of scored requests, 1-10.", _SCORES)
        self._confidence = self._histogram(
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
        self._saved = self._counter("saved_usd", "Money saved against all-cloud, in USD.")
        self._unpriced = self._counter(
            "unknown_cost", "Answers whose cost is unknown, for want of a price.", "backend"
        )
        self._shadow = self._counter("shadow", "Shadow comparisons made.", "outcome")
        self._similarity = self._histogram(
            "shadow_similarity", "Similarity of compared answers, 0-1.", _SHARES
        )
        self._shadow_dropped = self._counter(
            "shadow_dropped", "Shadow comparisons not made.", "reason"
        )
        self._judged = self._counter(
            "judged", "Comparisons that a judge was to decide.", "backend", "outcome"
        )
        self._second_opinions = self._counter(
            "second_opinions", "Second edge answers that were asked for.", "backend", "outcome"
        )
        self._second_tokens = self._counter(
            "second_opinion_tokens", "Tokens of second edge answers.", "backend", "kind"
        )
        self._shared_cache = self._counter(
            "shared_cache", "Calls to the cache that replicas share.", "call", "outcome"
        )
        self._breaker = self._gauge("breaker_state", "0 closed, 1 half open, 2 open.", "backend")
        self._load = self._gauge(
            "model_load_seconds", "How long a local model took to load, last time.", "backend"
        )
        self._switches = self._counter(
            "model_switches", "Versions of local models that were to be used.", "backend", "outcome"
        )
        self._available = self._gauge(
            "backend_available", "0 after failed health probes, 1 again.", "backend"
        )
        self._in_flight = self._gauge("in_flight", "Requests under way.")
        self._alerts = self._counter("alerts", "Alerts put to webhooks.", "alert", "outcome")
        self._spans = self._counter("spans", "Spans put to the collector.", "outcome")
        self.allowed = Allowed(self.registry)
        """What API keys have spent and may still ask for."""
        self.inference = Inference(self.registry)
        """What the models of this device cost."""
        self.learned = Learned(self.registry)
        """What was learned of pairs of models."""
        self._gauge("build_info", "1; the version is in the label.", "version").labels(
            __version__
        ).set(1)

    def render(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self.registry)

    def watch_in_flight(self, count: Callable[[], int]) -> None:
        """Where to read the number of requests under way, whenever somebody looks."""
        self._in_flight.set_function(count)

    def on_shared_cache(self, call: str, outcome: str) -> None:
        """Counts one call to the cache that replicas share."""
        self._shared_cache.add((call, outcome))

    def told(self, alert: str, outcome: str) -> None:
        """Counts what became of an alert at one webhook."""
        self._alerts.add((alert, outcome))

    def traced(self, spans: int, outcome: str) -> None:
        """Counts what became of spans at the collector."""
        self._spans.add((outcome,), spans)

    def forget(self, backend: str) -> None:
        """Says nothing more of a backend that is no more, or is another."""
        self._available.remove(backend)
        self._breaker.remove(backend)
        self.inference.forget(backend)

    def on_event(self, event: GatewayEvent) -> None:
        """Counts one event. Cheap enough for the request path."""
        match event:
            case Served():
                self._on_served(event)
            case AttemptFailed():
                self._on_failed(event)
            case Compared() | Judged() | ShadowDropped():
                self._on_comparison(event)
            case SecondOpinion():
                self._on_second_opinion(event)
            case BreakerMoved():
                self._breaker.labels(event.backend).set(_BREAKER[event.new])
            case HealthMoved():
                self._available.labels(event.backend).set(event.available)
            case ModelLoaded():
                self._available.labels(event.backend).set(1)
                self._load.labels(event.backend).set(event.seconds)
            case Inferred():
                self.inference.on_inferred(event)
            case ModelSwitched():
                self._switches.add((event.backend, event.outcome))

    def _on_comparison(self, event: Compared | Judged | ShadowDropped) -> None:
        match event:
            case Compared():
                self._shadow.add(("agreed" if event.agreed else "disagreed",))
                if event.similarity is not None:
                    self._similarity.observe(event.similarity)
            case Judged():
                self._judged.add((event.backend, event.outcome))
                if event.cost_usd:
                    self._cost.add((event.backend,), float(event.cost_usd))
            case ShadowDropped():
                self._shadow_dropped.add((event.reason,))

    def _on_second_opinion(self, event: SecondOpinion) -> None:
        self._second_opinions.add((event.backend, event.outcome))
        if event.usage is not None:
            self._second_tokens.add((event.backend, "prompt"), event.usage.prompt_tokens)
            self._second_tokens.add((event.backend, "completion"), event.usage.completion_tokens)

    def _on_served(self, served: Served) -> None:
        labels = (served.route or _NONE, served.tier or _NONE, served.backend or _NONE)
        outcome = _outcome(served)
        self._requests.add((*labels, outcome))
        if served.clearance is not Clearance.ANYWHERE:
            self._private.add((served.clearance, outcome))
        self._seconds.observe(served.latency_ms / 1000, labels)
        if served.first_event_ms is not None:
            self._first.observe(served.first_event_ms / 1000, labels)
        if served.plan is not None:
            self._overhead.observe(served.overhead_ms / 1000)
            if served.plan.score is not None:
                self._score.observe(served.plan.score.value)
        if served.confidence is not None:
            self._confidence.observe(served.confidence)
        if served.backend is not None:
            self._on_answer(served, served.backend, failed=outcome == "failed")

    def _on_answer(self, served: Served, backend: str, *, failed: bool) -> None:
        # One that failed before it had begun was told of as an `AttemptFailed`.
        if served.route != "cache" and not (failed and served.first_event_ms is None):
            if served.tier is Tier.CLOUD:
                self._cloud_calls.add((backend,))
            if failed:
                failures = self._cloud_errors if served.tier is Tier.CLOUD else self._edge_failures
                failures.add((backend, "broken_off"))
        self._on_usage(served, backend)
        self._on_money(served, backend)

    def _on_usage(self, served: Served, backend: str) -> None:
        if served.usage is not None and served.tier is not None and served.route != "cache":
            usage, tier = served.usage, served.tier
            self._tokens.add((tier, backend, "prompt"), usage.prompt_tokens)
            self._tokens.add((tier, backend, "completion"), usage.completion_tokens)

    def _on_money(self, served: Served, backend: str) -> None:
        if served.cost_usd is None:
            self._unpriced.add((backend,))
        elif served.cost_usd:
            self._cost.add((backend,), float(served.cost_usd))
        if served.saved_usd:
            self._saved.add(amount=float(served.saved_usd))

    def _on_failed(self, failed: AttemptFailed) -> None:
        if failed.tier is Tier.EDGE:
            self._edge_failures.add((failed.backend, failed.fault))
            return
        self._cloud_errors.add((failed.backend, failed.fault))
        if failed.fault is not Fault.REFUSED:
            self._cloud_calls.add((failed.backend,))

    def _counter(self, name: str, help_text: str, *labels: str) -> Counts:
        return Counts(self.registry, name, help_text, *labels)

    def _histogram(
        self, name: str, help_text: str, buckets: tuple[float, ...], *labels: str
    ) -> Spread:
        return Spread(self.registry, name, help_text, buckets, *labels)

    def _gauge(self, name: str, help_text: str, *labels: str) -> Gauge:
        return Gauge(f"hybridge_{name}", help_text, labels, registry=self.registry)


def _outcome(served: Served) -> str:
    if served.error is None:
        return "served"
    return "cancelled" if served.error == "cancelled" else "failed"

"""What leaves the gateway about itself: alerts (R81) and traces (R80), by one way out."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Self

from hybridge.budget.ledger import Ledger
from hybridge.core.clock import Clock
from hybridge.core.events import Events
from hybridge.settings import Settings
from hybridge.telemetry.alerts.alert import Alert
from hybridge.telemetry.alerts.alerts import Alerts
from hybridge.telemetry.alerts.webhook import Receiver, Webhook
from hybridge.telemetry.metrics import Metrics
from hybridge.telemetry.outbound import Post
from hybridge.telemetry.spans import Described, described
from hybridge.telemetry.traces import Collector, Traces, Tracing
from hybridge.wiring.posting import posting


class News:
    """Alerts and traces; both live on events, and can neither delay nor fail a reply."""

    def __init__(self, alerts: Alerts, traces: Traces) -> None:
        self._alerts = alerts
        self._traces = traces

    @classmethod
    def open(cls, metrics: Metrics, books: Ledger, clock: Clock, events: Events) -> Self:
        """Tells nobody until `take` says whom. Must be called on the event loop."""
        post = posting()

        def webhook(receiver: Receiver) -> Webhook:
            return Webhook(receiver, post, clock, count)

        def count(alert: Alert, outcome: str) -> None:
            metrics.told(alert.name.value, outcome)

        def begin(collector: Collector) -> Tracing:
            return _tracer(collector, post, metrics)

        alerts = Alerts(webhook, lambda: _spent_today(books), clock)
        traces = Traces(begin)
        events.subscribe(alerts.on_event)
        events.subscribe(traces.on_event)
        return cls(alerts, traces)

    async def prepare(self, settings: Settings) -> None:
        """What `take` would otherwise do while requests wait: to import the SDK takes a moment."""
        if settings.telemetry.otlp_endpoint is not None:
            await asyncio.to_thread(import_module, "hybridge.telemetry.tracer")

    def take(self, settings: Settings) -> None:
        """From now on these settings hold."""
        self._alerts.take(settings.alerts, _receivers(settings), settings.budget.daily_usd)
        self._traces.take(_collector(settings), dict(_backends(settings)))

    def forget(self, backends: Collection[str]) -> None:
        """These are gone, or others have their names."""
        self._alerts.forget(backends)

    async def close(self) -> None:
        """Sends what is waiting, for a few seconds at most."""
        await asyncio.gather(self._alerts.close(), self._traces.close())


def _tracer(collector: Collector, post: Post, metrics: Metrics) -> Tracing:
    from hybridge.telemetry.tracer import Tracer

    return Tracer(collector, post, metrics.traced)


def _spent_today(books: Ledger) -> Decimal:
    day, *_ = books.status().spends
    return day.spent


def _receivers(settings: Settings) -> list[Receiver]:
    secrets, service = settings.secrets, settings.telemetry.service_name
    return [
        Receiver(
            row.name, secrets.webhooks[row.name], row.shape, service, secrets.signing.get(row.name)
        )
        for row in settings.alerts.webhooks
    ]


def _collector(settings: Settings) -> Collector | None:
    telemetry = settings.telemetry
    if telemetry.otlp_endpoint is None:
        return None
    headers = settings.secrets.otlp_headers
    return Collector(telemetry.otlp_endpoint, headers, telemetry.service_name, telemetry.sample)


def _backends(settings: Settings) -> Iterator[tuple[str, Described]]:
    """How the configuration names each backend's provider and model."""
    for local in settings.edge.backends:
        model = local.model if local.engine == "openai" else Path(local.model).name
        yield local.name, described(local.engine, model)
    for cloud in settings.cloud.backends:
        yield cloud.name, described(cloud.provider, cloud.model)
    for row in settings.embeddings.backends:
        if row.engine == "openai":
            yield row.name, described(row.provider, row.model)
        else:
            yield row.name, described(row.engine, Path(row.model).name)

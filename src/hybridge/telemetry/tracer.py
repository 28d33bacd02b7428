"""Spans in the SDK's terms. It comes with the extra `otel`, as does `exporter`'s."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from hybridge._version import __version__
from hybridge.core.events import AttemptFailed, Compared, Served
from hybridge.telemetry import spans
from hybridge.telemetry.exporter import Count, Exporter
from hybridge.telemetry.outbound import Persistence, Post
from hybridge.telemetry.traces import Collector

_NS_PER_MS = 1_000_000
_EPOCH, _MICROSECOND = datetime.fromtimestamp(0, UTC), timedelta(microseconds=1)
_CANCELLED = "cancelled"
"""What ended a request whose caller hung up: no failure of ours."""


class Tracer:
    """Implements `telemetry.traces.Tracing`: makes spans, and has the SDK's thread send them."""

    def __init__(
        self, collector: Collector, post: Post, count: Count, persistence: Persistence | None = None
    ) -> None:
        """Must be made on the event loop: that is where the batches are posted."""
        persistence = persistence or Persistence(attempts=3)
        self._close_s = persistence.close_s
        self._exporter = Exporter(collector, post, count, persistence)
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(collector.sample)),
            resource=Resource.create(
                {"service.name": collector.service, "service.version": __version__}
            ),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("hybridge", __version__)

    def request(
        self, served: Served, failures: Sequence[AttemptFailed], backends: spans.Backends
    ) -> Context | None:
        """See `Tracing`."""
        end = _ns(served.at)
        start = end - int(served.latency_ms * _NS_PER_MS)
        span = self._tracer.start_span(
            f"hybridge {served.operation}",
            _caller(served.traceparent),
            SpanKind.SERVER,
            start_time=start,
        )
        if not span.is_recording():
            return None
        span.set_attributes(spans.of_request(served))
        _mark(span, served.error)
        inside = set_span_in_context(span, Context())
        asked = start + int(served.overhead_ms * _NS_PER_MS)
        self._calls(served, failures, backends, inside, (asked, end))
        span.end(end)
        return inside

    def comparison(self, compared: Compared, inside: Context) -> None:
        """See `Tracing`."""
        end = _ns(compared.at)
        took_ms = max(compared.edge_ms, compared.cloud_ms)
        span = self._tracer.start_span(
            "hybridge shadow", inside, start_time=end - int(took_ms * _NS_PER_MS)
        )
        span.set_attributes(spans.of_comparison(compared))
        span.end(end)

    async def close(self) -> None:
        """Sends what is waiting, for a few seconds at most."""
        ending = asyncio.create_task(asyncio.to_thread(self._provider.shutdown))
        await asyncio.wait({ending}, timeout=self._close_s)
        self._exporter.give_up()
        await ending

    def _calls(
        self,
        served: Served,
        failures: Sequence[AttemptFailed],
        backends: spans.Backends,
        inside: Context,
        between: tuple[int, int],
    ) -> None:
        """A span for each: one begins where the one before it failed."""
        start, end = between
        for failed in failures:
            over = start if failed.at is None else max(start, _ns(failed.at))
            self._call(spans.of_failure(failed, served.operation, backends), inside, (start, over))
            start = over
        backend = spans.answered_by(served)
        if backend is not None:
            said = spans.of_answer(served, backend, backends)
            self._call(said, inside, (min(start, end), end))

    def _call(self, said: spans.Attributes, inside: Context, between: tuple[int, int]) -> None:
        start, end = between
        name = f"{said[spans.OPERATION]} {said.get(spans.MODEL) or said[spans.BACKEND]}"
        span = self._tracer.start_span(name, inside, SpanKind.CLIENT, said, start_time=start)
        _mark(span, said.get(spans.FAILURE))
        span.end(end)


def _mark(span: Span, failure: object) -> None:
    if failure is not None and failure != _CANCELLED:
        span.set_status(Status(StatusCode.ERROR))


def _caller(traceparent: str | None) -> Context:
    """The caller's span as the parent, or none: never one that happens to be about."""
    if traceparent is None:
        return Context()
    _, trace, span, flags = traceparent.split("-")
    parent = SpanContext(int(trace, 16), int(span, 16), True, TraceFlags(int(flags, 16)))
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _ns(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND * 1000

"""Spans to a collector: the SDK's batches, sent through the house's own way out.

The SDK comes with the extra `otel`.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from hybridge.core.redaction import Redactor
from hybridge.telemetry.outbound import AGAIN, Persistence, Post, origin, secret_parts
from hybridge.telemetry.traces import Collector

_log = logging.getLogger("hybridge.traces")
Count = Callable[[int, str], None]
"""Counts what became of spans: `sent` or `failed`."""


class Exporter(SpanExporter):
    """Called by the SDK's thread; posts on the event loop, and waits for it there.

    What a collector does not take is tried again, dropped, counted, and logged once until it works
    again.
    """

    def __init__(
        self, collector: Collector, post: Post, count: Count, persistence: Persistence
    ) -> None:
        self._collector = collector
        self._post = post
        self._count = count
        self._persistence = persistence
        self._loop = asyncio.get_running_loop()
        self._redact = Redactor((*secret_parts(collector.url), *collector.headers.values()))
        self._lock = threading.Lock()
        self._sending: Future[str | None] | None = None
        self._over = False
        self._failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See `SpanExporter`."""
        body = encode_spans(spans).SerializeToString()
        try:
            with self._lock:
                if self._over:
                    return SpanExportResult.FAILURE
                self._sending = asyncio.run_coroutine_threadsafe(
                    self._deliver(body, len(spans)), self._loop
                )
            failure = self._sending.result()
        except (CancelledError, RuntimeError):  # the house, or the loop itself, is closing
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS if failure is None else SpanExportResult.FAILURE

    def give_up(self) -> None:
        """Nothing is sent from now on, and what is under way is not waited for."""
        with self._lock:
            self._over = True
            if self._sending is not None:
                self._sending.cancel()

    async def _deliver(self, body: bytes, spans: int) -> str | None:
        """Why it could not be sent."""
        failure: str | None = "given up"
        try:
            failure, again = await self._send(body)
            for attempt in range(1, self._persistence.attempts):
                if failure is None or not again:
                    break
                await asyncio.sleep(self._persistence.pause(attempt))
                failure, again = await self._send(body)
        finally:
            self._count(spans, "sent" if failure is None else "failed")
        self._say(failure)
        return failure

    async def _send(self, body: bytes) -> tuple[str | None, bool]:
        """What went wrong, and whether to try it again."""
        headers = {"content-type": "application/x-protobuf", **self._collector.headers}
        timeout_s = self._persistence.timeout_s
        try:
            answer = await self._post(self._collector.url, headers, body, timeout_s)
        except TimeoutError:
            return f"no answer within {timeout_s:g} s", True
        except Exception as error:  # whatever the way out raises
            return self._redact(f"{type(error).__name__}: {error}"), True
        if 200 <= answer.status < 300:
            return None, False
        return f"status {answer.status}", answer.status in AGAIN

    def _say(self, failure: str | None) -> None:
        """Logs the first failure, and the first success after it."""
        if (failure is not None) == self._failing:
            return
        self._failing = failure is not None
        where = origin(self._collector.endpoint)
        if failure is None:
            _log.info("the collector at %s takes traces again", where)
        else:
            _log.error("the collector at %s takes no traces: %s", where, failure)

"""R80: what a real collector receives."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.proto.trace.v1.trace_pb2 import Status as Code

from hybridge.core.errors import Fault
from hybridge.core.events import AttemptFailed, Compared, Served
from hybridge.core.plan import Attempt, Plan, Route, Score, Thresholds
from hybridge.core.request import Tier
from hybridge.core.response import Usage
from hybridge.telemetry.outbound import Persistence
from hybridge.telemetry.spans import described
from hybridge.telemetry.tracer import Tracer
from hybridge.telemetry.traces import REMEMBERED, Collector, Traces
from hybridge.testing.replies import hangs, raw
from hybridge.testing.upstream import Upstream
from hybridge.wiring.posting import posting

pytestmark = pytest.mark.anyio
OK = raw(b"")
BRISK = Persistence(attempts=2, timeout_s=5.0, pause_s=0.01, close_s=10.0)
NOW = datetime(2030, 1, 1, 8, 0, 5, 250_000, UTC)
BACKENDS = {"local": described("llamacpp", "qwen.gguf"), "gpt": described("azure", "gpt-4o")}
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PLAN = Plan(
    Route.CLOUD_CLASSIFIED,
    (Attempt("gpt", Tier.CLOUD, Route.CLOUD_CLASSIFIED),),
    Thresholds(),
    score=Score(p=0.5, source="prior", version="7"),
    reasons=("a reason",),
)
SERVED = Served(
    request_id="req-1", at=NOW, tenant="team", session="digest", plan=PLAN,
    route=Route.CLOUD_CLASSIFIED, tier=Tier.CLOUD, backend="gpt", model="gpt-4o-said-so",
    confidence=0.5, degraded=False, stream=True, overhead_ms=50.0, first_event_ms=550.0,
    latency_ms=2250.0, usage=Usage(10, 20, cached_tokens=4), cost_usd=Decimal("0.25"),
    saved_usd=Decimal(0),
)  # fmt: skip
COMPARED = Compared(
    request_id="req-1", at=NOW + timedelta(seconds=3), task="qa", score=None, propensity=1.0,
    edge_backend="local", cloud_backend="gpt", edge_version="", scorer_version="",
    edge_digest="edge-digest", cloud_digest="", similarity=0.875, agreed=True, method="similarity",
    edge_confidence=None, edge_ms=100.0, cloud_ms=900.0,
)  # fmt: skip


class Scene:
    """Traces, and the collector they go to."""

    def __init__(self, collector: Upstream, traces: Traces, counts: Counter[str]) -> None:
        self.collector = collector
        self.traces = traces
        self.counts = counts

    async def spans(self) -> dict[str, Span]:
        """All that came, by name; nothing comes after that."""
        await self.traces.close()
        return {span.name: span for span in spans_in(self.collector)}


def spans_in(collector: Upstream) -> list[Span]:
    found = []
    for received in collector.posts:
        assert received.target == "/v1/traces"
        assert received.headers["content-type"] == "application/x-protobuf"
        batch = ExportTraceServiceRequest.FromString(received.body)
        for resource in batch.resource_spans:
            named = {a.key: a.value.string_value for a in resource.resource.attributes}
            assert named["service.name"] == "home"
            found += [span for scope in resource.scope_spans for span in scope.spans]
    return found


def said(span: Span) -> dict[str, Any]:
    return {a.key: getattr(a.value, str(a.value.WhichOneof("value"))) for a in span.attributes}


def between(span: Span) -> tuple[float, float]:
    """Its begin and end, in milliseconds from `NOW`."""
    zero = int(NOW.timestamp() * 1000) * 1_000_000
    return (span.start_time_unix_nano - zero) / 1e6, (span.end_time_unix_nano - zero) / 1e6


@asynccontextmanager
async def scene(
    *replies, sample: float = 1.0, persistence: Persistence = BRISK
) -> AsyncIterator[Scene]:
    counts: Counter[str] = Counter()

    def begin(collector: Collector) -> Tracer:
        return Tracer(collector, posting(), lambda n, o: counts.update({o: n}), persistence)

    async with Upstream(*(replies or (OK,))) as upstream:
        traces = Traces(begin)
        headers = {"authorization": "Bearer collectors-key"}
        traces.take(Collector(upstream.root_url, headers, "home", sample), BACKENDS)
        try:
            yield Scene(upstream, traces, counts)
        finally:
            await traces.close()


async def test_a_request_is_a_span_and_its_call_one_in_it():
    async with scene() as s:
        s.traces.on_event(SERVED)
        spans = await s.spans()
        request, call = spans["hybridge chat"], spans["chat gpt-4o"]
        assert said(request) == {
            "hybridge.request_id": "req-1",
            "hybridge.tenant": "team",
            "hybridge.route": "cloud_classified",
            "hybridge.tier": "cloud",
            "hybridge.backend": "gpt",
            "hybridge.confidence": 0.5,
            "hybridge.degraded": False,
            "hybridge.clearance": "anywhere",
            "hybridge.left_device": False,
            "hybridge.overhead_ms": 50.0,
            "hybridge.first_event_ms": 550.0,
            "hybridge.cost_usd": 0.25,
            "hybridge.saved_usd": 0.0,
            "hybridge.score": 5.5,
            "hybridge.scorer": "7",
            "gen_ai.operation.name": "chat",
        }
        assert said(call) == {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "azure.ai.openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.request.stream": True,
            "gen_ai.response.time_to_first_chunk": 0.5,
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.cache_read.input_tokens": 4,
            "hybridge.usage_estimated": False,
            "hybridge.backend": "gpt",
        }
        assert (between(request), between(call)) == ((-2250, 0), (-2200, 0))
        assert (request.kind, call.kind) == (Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT)
        assert (call.trace_id, call.parent_span_id) == (request.trace_id, request.span_id)
        assert not request.parent_span_id
        assert s.collector.posts[0].headers["authorization"] == "Bearer collectors-key"
        assert s.counts == {"sent": 2}


async def test_each_failed_call_is_a_span_before_the_one_that_served():
    async with scene() as s:
        early = NOW - timedelta(seconds=1)
        s.traces.on_event(AttemptFailed("req-1", "local", Tier.EDGE, Fault.TIMEOUT, early))
        s.traces.on_event(AttemptFailed("other", "local", Tier.EDGE, Fault.TIMEOUT, early))
        s.traces.on_event(SERVED)
        spans = await s.spans()
        failed, call = spans["chat qwen.gguf"], spans["chat gpt-4o"]
        assert len(spans) == 3
        assert said(failed)["error.type"] == "timeout"
        assert said(failed)["gen_ai.provider.name"] == "llamacpp"
        assert failed.status.code == Code.STATUS_CODE_ERROR
        assert (between(failed), between(call)) == ((-2200, -1000), (-1000, 0))


async def test_a_shadow_comparison_is_in_its_requests_trace():
    async with scene() as s:
        s.traces.on_event(replace(SERVED, plan=replace(PLAN, shadow="local")))
        s.traces.on_event(COMPARED)
        s.traces.on_event(COMPARED)  # of no request that is remembered
        spans = await s.spans()
        request, shadow = spans["hybridge chat"], spans["hybridge shadow"]
        assert (shadow.trace_id, shadow.parent_span_id) == (request.trace_id, request.span_id)
        assert said(shadow)["hybridge.agreed"] is True
        assert between(shadow) == (2100, 3000)
        assert s.counts == {"sent": 3}


async def test_the_callers_trace_goes_on():
    async with scene(sample=0.0) as s:
        s.traces.on_event(replace(SERVED, traceparent=f"00-{TRACE}-{SPAN}-01"))
        request = (await s.spans())["hybridge chat"]
        assert (request.trace_id.hex(), request.parent_span_id.hex()) == (TRACE, SPAN)


async def test_a_caller_that_does_not_sample_is_not_sampled():
    async with scene() as s:
        s.traces.on_event(replace(SERVED, traceparent=f"00-{TRACE}-{SPAN}-00"))
        s.traces.on_event(COMPARED)
        assert await s.spans() == {}


@pytest.mark.parametrize(
    ("sample", "least", "most"), [(0.0, 0, 0), (0.5, 60, 140), (1.0, 200, 200)]
)
async def test_the_share_that_is_sampled(sample, least, most):
    async with scene(sample=sample) as s:
        random.seed(7)
        for _ in range(200):
            s.traces.on_event(replace(SERVED, route=Route.CACHE))
        await s.spans()
        assert least <= s.counts["sent"] <= most


async def test_an_answer_out_of_the_cache_called_nobody():
    async with scene() as s:
        s.traces.on_event(replace(SERVED, route=Route.CACHE))
        assert set(await s.spans()) == {"hybridge chat"}


@pytest.mark.parametrize(("error", "is_failure"), [("NotServed", True), ("cancelled", False)])
async def test_how_a_request_ended(error, is_failure):
    async with scene() as s:
        lost = {"route": None, "tier": None, "backend": None, "model": None, "plan": None}
        s.traces.on_event(replace(SERVED, error=error, **lost))
        (request,) = (await s.spans()).values()
        assert said(request)["error.type"] == error
        assert (request.status.code == Code.STATUS_CODE_ERROR) is is_failure


async def test_embeddings():
    async with scene() as s:
        s.traces.on_event(replace(SERVED, operation="embeddings", backend="unknown"))
        assert set(await s.spans()) == {"hybridge embeddings", "embeddings unknown"}


async def test_what_failed_once_is_sent_again():
    async with scene(raw(b"", 503), OK) as s:
        s.traces.on_event(SERVED)
        await s.traces.close()
        assert len(s.collector.posts) == 2
        assert s.counts == {"sent": 2}


async def test_a_collector_that_refuses_is_logged_without_its_key(caplog):
    async with scene(raw(b"no", 401)) as s:
        s.traces.on_event(SERVED)
        await s.traces.close()
        assert s.counts == {"failed": 2}
        (line,) = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
        assert line == f"the collector at {s.collector.root_url} takes no traces: status 401"


async def test_closing_does_not_wait_for_a_collector_that_hangs():
    slow = replace(BRISK, timeout_s=60.0, close_s=0.1)
    async with scene(hangs(), persistence=slow) as s:
        s.traces.on_event(SERVED)
        async with asyncio.timeout(30):
            await s.traces.close()
        assert s.counts == {"failed": 2}


async def test_another_collector_takes_over_and_the_first_gets_its_rest():
    async with scene() as s, Upstream(OK) as other:
        s.traces.on_event(SERVED)
        s.traces.take(Collector(f"{other.root_url}/v1/traces", {}, "home", 1.0), BACKENDS)
        s.traces.on_event(SERVED)
        await s.traces.close()
        assert (len(spans_in(s.collector)), len(spans_in(other))) == (2, 2)


async def test_without_a_collector_nothing_is_kept():
    async with scene() as s:
        s.traces.take(None, BACKENDS)
        s.traces.on_event(SERVED)
        assert await s.spans() == {}


async def test_what_is_remembered_is_bounded():
    async with scene(sample=0.0) as s:
        for number in range(REMEMBERED + 10):
            s.traces.on_event(AttemptFailed(str(number), "local", Tier.EDGE, Fault.BUSY, NOW))
        assert len(s.traces._failed) == REMEMBERED


def test_neither_keys_nor_paths_are_shown():
    collector = Collector("http://c.example/secret-path", {"authorization": "key"}, "home", 1.0)
    assert "key" not in repr(collector)
    assert "secret-path" not in repr(collector)

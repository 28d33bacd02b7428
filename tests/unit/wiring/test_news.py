"""Alerts and traces of a whole house: what a webhook and a collector receive, and what never."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from pyqwest import Client
from tests.unit.wiring.scene import Scene, until

from hybridge.cli.loopback import loopback
from hybridge.core.errors import ConfigError
from hybridge.server.serve import Listener
from hybridge.settings import parse
from hybridge.telemetry.alerts.shapes import SHAPES
from hybridge.testing.replies import Received, Step, answers, fails, hangs, raw, says, slowly
from hybridge.testing.upstream import Upstream
from hybridge.wiring import open_house
from hybridge.wiring.house import House

pytestmark = pytest.mark.anyio
OK = raw(b'{"code":0,"errcode":0}')
MARKER = "xyzzy-4711-plugh"
BRISK = {"probe_interval_s": 0.05, "breaker_open_s": 600}


def ops(receiver: Upstream, shape: str = "json", name: str = "ops") -> dict[str, Any]:
    return {"name": name, "url": f"{receiver.root_url}/hook/{name}", "shape": shape}


def told(receiver: Upstream) -> list[tuple[str, str, str]]:
    said = [received.json for received in receiver.posts]
    return [(one["alert"], one["state"], one["subject"]) for one in said if "alert" in one]


async def test_a_backend_that_goes_and_comes_is_told_of(play):
    async with Upstream(OK) as receiver:
        alerts = {"webhooks": [ops(receiver)]}
        async with play(execution=BRISK, alerts=alerts) as scene:
            scene.edge.get_with(fails(503))
            await until(lambda: told(receiver))
            scene.edge.get_with(answers({"data": []}))
            await until(lambda: len(told(receiver)) == 2)
            assert told(receiver) == [
                ("backend_unavailable", "firing", "e"),
                ("backend_unavailable", "resolved", "e"),
            ]
            shown = scene.house.metrics.render().decode()
            assert 'hybridge_backend_available{backend="e"} 1.0' in shown
            line = 'hybridge_alerts_total{alert="backend_unavailable",outcome="sent"} 2.0'
            await until(lambda: line in scene.house.metrics.render().decode())


async def test_a_model_that_cannot_be_loaded_is_told_of(play):
    async with Upstream(OK) as receiver:
        async with play(local=True, alerts={"webhooks": [ops(receiver)]}):
            await until(lambda: told(receiver))
            assert told(receiver) == [("backend_unavailable", "firing", "local")]


async def test_what_was_wrong_is_over_when_its_backend_is_another(play):
    async with Upstream(OK) as receiver:
        alerts = {"webhooks": [ops(receiver)]}
        async with play(execution=BRISK | {"probe_interval_s": 60}, alerts=alerts) as scene:
            await _break(scene)
            await until(lambda: told(receiver))
            await scene.take(lambda data: data["cloud"]["backends"][0].update(model="larger"))
            await until(lambda: len(told(receiver)) == 2)
            assert told(receiver) == [
                ("breaker_open", "firing", "c"),
                ("breaker_open", "resolved", "c"),
            ]
            assert 'breaker_state{backend="c"}' not in scene.house.metrics.render().decode()


async def test_what_happens_to_a_backend_that_is_gone_is_told_to_nobody(play):
    async with Upstream(OK) as receiver:
        alerts = {"webhooks": [ops(receiver)]}
        async with play(execution=BRISK | {"probe_interval_s": 60}, alerts=alerts) as scene:
            scene.cloud.then(slowly(fails(500), first_s=0.2))
            old = [asyncio.create_task(scene.ask("c")) for _ in range(4)]
            await until(lambda: len(scene.cloud.posts) == 4)
            row = scene.house.gateway.current.rows["c"]
            await scene.take(lambda data: data["cloud"]["backends"][0].update(model="larger"))
            await asyncio.gather(*old, return_exceptions=True)
            assert row.breaker.state == "open"
        assert told(receiver) == []


async def test_other_probes_begin_without_what_the_old_ones_found(play):
    async with Upstream(OK) as receiver:
        alerts = {"webhooks": [ops(receiver)]}
        async with play(execution=BRISK, alerts=alerts) as scene:
            scene.edge.get_with(fails(503))
            await until(lambda: told(receiver))
            await scene.take(lambda data: data["execution"].update(probe_interval_s=60))
            await until(lambda: len(told(receiver)) == 2)
            assert told(receiver)[1] == ("backend_unavailable", "resolved", "e")


async def test_a_webhook_that_is_added_hears_what_is_wrong(play):
    async with Upstream(OK) as receiver, Upstream(OK) as other:
        async with play(execution=BRISK | {"probe_interval_s": 60}) as scene:
            await _break(scene)
            await scene.take(lambda data: data.update(alerts={"webhooks": [ops(receiver)]}))
            await until(lambda: told(receiver))
            assert told(receiver) == [("breaker_open", "firing", "c")]
            changed = await scene.take(
                lambda data: data.update(alerts={"webhooks": [ops(other, name="new")]})
            )
            assert changed == ("alerts.webhooks ops removed", "alerts.webhooks new added")
            await until(lambda: told(other))
            assert len(told(receiver)) == 1


async def test_neither_a_request_nor_the_end_waits_for_a_receiver_that_hangs(play):
    async with Upstream(hangs()) as receiver, Upstream(hangs()) as collector:
        async with asyncio.timeout(30):
            async with play(
                execution=BRISK,
                alerts={"webhooks": [ops(receiver)]},
                telemetry={"otlp_endpoint": collector.root_url},
            ) as scene:
                await _break(scene)
                await until(lambda: receiver.posts)
                scene.cloud.then(says("from the cloud"))
                assert await scene.ask("e") == "from the edge"


async def test_traces_can_begin_move_and_end_while_it_runs(play):
    async with Upstream(OK) as one, Upstream(OK) as other, play() as scene:
        await scene.ask("c")
        await scene.take(lambda data: data.update(telemetry={"otlp_endpoint": one.root_url}))
        await scene.ask("c")
        await scene.take(lambda data: data.update(telemetry={"otlp_endpoint": other.root_url}))
        await until(lambda: len(names(one)) == 2)
        await scene.ask("c")
        await scene.ask("e")
        await scene.take(lambda data: data.update(telemetry={}))
        await until(lambda: len(names(other)) == 4)
        await scene.ask("c")
        assert names(one) == ["chat large", "hybridge chat"]
        assert names(other) == ["chat large", "hybridge chat", "chat small", "hybridge chat"]


def spans(collector: Upstream) -> list[Span]:
    return [
        span
        for received in collector.posts
        for resource in ExportTraceServiceRequest.FromString(received.body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def names(collector: Upstream) -> list[str]:
    return [span.name for span in spans(collector)]


async def _break(scene: Scene) -> None:
    scene.cloud.then(fails(500))
    for _ in range(3):
        with pytest.raises(Exception, match="500"):
            await scene.ask("c")


@dataclass
class Wire:
    """A gateway as callers reach it, and everything that hears of it."""

    url: str
    http: Client
    near: Upstream
    far: Upstream
    receivers: list[Upstream]
    collector: Upstream
    house: House

    async def post(self, path: str, body: dict[str, Any], **headers: str) -> tuple[int, bytes]:
        sent = {"content-type": "application/json", **headers}
        answer = await self.http.post(self.url + path, sent, json.dumps(body).encode())
        return answer.status, answer.content

    @property
    def heard(self) -> bytes:
        """All that left the process but for the model servers."""
        posts = [received for one in (*self.receivers, self.collector) for received in one.posts]
        return b"\n".join(
            received.target.encode() + repr(dict(received.headers)).encode() + received.body
            for received in posts
        )


@asynccontextmanager
async def wired(**sections: Any) -> AsyncIterator[Wire]:
    async with AsyncExitStack() as stack:
        near = await stack.enter_async_context(Upstream(says("sure", logprob=-0.01)))
        far = await stack.enter_async_context(Upstream(says("from afar")))
        collector = await stack.enter_async_context(Upstream(OK))
        receivers = [await stack.enter_async_context(Upstream(OK)) for _ in SHAPES]
        rows = [ops(one, shape, shape) for one, shape in zip(receivers, SHAPES, strict=True)]
        price = {"input_usd": 2_000_000, "output_usd": 8_000_000}
        vectors = {"name": "v", "engine": "openai", "base_url": far.base_url, "model": "vec"}
        settings = parse(
            {
                "server": {"port": 0},
                "edge": {"backends": [{"name": "e", "engine": "openai", "base_url": near.base_url, "model": "small"}]},
                "cloud": {"backends": [{"name": "c", "base_url": far.base_url, "model": "large", "price": price}]},
                "embeddings": {"backends": [vectors | {"price": 1}]},
                "records": {"url": None},
                "budget": {"daily_usd": None},
                "alerts": {"webhooks": rows, "cloud_daily_usd": 0.01, "repeat_s": 0},
                "telemetry": {"otlp_endpoint": collector.root_url},
                **sections,
            },
            {},
        )  # fmt: skip
        house = await stack.enter_async_context(open_house(settings))
        async with Listener(house.app, settings.server) as listener:
            client = Client(loopback())
            yield Wire(listener.url, client, near, far, receivers, collector, house)


def conversation(model: str, **more: Any) -> dict[str, Any]:
    """A request with the marker in every place that has room for words."""
    call = {"name": f"f{MARKER}", "arguments": json.dumps({"a": MARKER})}
    return {
        "model": model,
        "messages": [
            {"role": "system", "content": f"You know {MARKER}."},
            {"role": "user", "content": f"Who is {MARKER}?", "name": MARKER},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": MARKER, "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": MARKER, "content": MARKER},
            {"role": "user", "content": f"Prove {MARKER} step by step, with all its lemmas."},
        ],
        "user": MARKER,
        "metadata": {"session_id": MARKER, MARKER: MARKER},
        "stop": [MARKER],
        **more,
    }


def echoes(status: int) -> Callable[[Received], Iterator[Step]]:
    """An upstream whose error repeats whatever it was sent, in every field."""

    def reply(received: Received) -> Iterator[Step]:
        said = received.body.decode()
        error = fails(status, said, type=MARKER, code=MARKER, headers={"x-request-id": MARKER})
        yield from error(received)

    return reply


HEADERS = {
    "x-session-id": MARKER,
    "x-request-id": MARKER,
    "user-agent": MARKER,
    "tracestate": f"v={MARKER}",
    "baggage": f"b={MARKER}",
}


async def test_nothing_that_was_said_leaves_with_an_alert_or_a_trace(caplog):
    caplog.set_level("DEBUG", logger="hybridge")
    async with wired(execution=BRISK, routing={"fallbacks": {"c": ["e"]}}) as wire:
        answered = says(MARKER, logprob=-0.01, model=MARKER)
        for reply in (answered, slowly(answered), echoes(400), echoes(500), echoes(429)):
            wire.near.then(reply)
            wire.far.then(reply)
            for model in ("auto", "c", "e", MARKER):
                for stream in (False, True):
                    await wire.post(
                        "/v1/chat/completions", conversation(model, stream=stream), **HEADERS
                    )
            await wire.post("/v1/embeddings", {"model": "v", "input": MARKER}, **HEADERS)
        wire.near.get_with(echoes(503))
        wire.far.get_with(fails(503, MARKER))
        for _ in range(3):
            await wire.post("/v1/chat/completions", conversation("e"), **HEADERS)
        wire.house._lasting.news._alerts.look()
        await until(lambda: all(_kinds(one) >= 3 for one in wire.receivers))
    assert len(names(wire.collector)) > 40
    assert MARKER.encode() in b"".join(received.body for received in wire.far.posts)
    assert MARKER.encode() not in wire.heard
    assert b"plugh" not in wire.heard
    assert MARKER not in wire.house.metrics.render().decode()


def _kinds(receiver: Upstream) -> int:
    """How many kinds of alerts it was told of."""
    everything = b"".join(received.body for received in receiver.posts)
    kinds = (b"backend_unavailable", b"breaker_open", b"cloud_cost")
    return sum(kind in everything for kind in kinds)


ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Hi"}]},
    "/v1/messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9},
    "/v1/responses": {"input": "Hi"},
    "/v1/completions": {"prompt": "Hi"},
    "/v1/embeddings": {"input": "Hi"},
}


async def test_the_callers_trace_goes_on_here_and_ends_here():
    wanted = []
    async with wired() as wire:
        for number, (path, body) in enumerate(ASKED.items(), 1):
            for stream in (False, True):
                model = "v" if "embeddings" in path else "c"
                more = {"stream": True} if stream and model == "c" else {}
                wanted.append(f"{number:031x}{stream:x}")
                parent = f"00-{wanted[-1]}-b7ad6b7169203331-01"
                await wire.post(path, {"model": model, **body, **more}, traceparent=parent)
    assert len(wire.far.posts) == len(wanted)
    for received in wire.far.posts:
        assert not {"traceparent", "tracestate", "baggage"} & set(received.headers)
    traces = Counter(span.trace_id.hex() for span in spans(wire.collector))
    assert traces == dict.fromkeys(wanted, 2)


async def test_explaining_tells_nobody_anything():
    async with Upstream(OK) as receiver:
        settings = parse({"alerts": {"webhooks": [ops(receiver)]}}, {})
        async with open_house(settings, load=False) as house:
            assert house._lasting.news is None
        assert receiver.requests == []


async def test_a_change_that_is_refused_changes_nothing(play):
    async with Upstream(OK) as receiver, play(execution=BRISK) as scene:
        with pytest.raises(ConfigError):
            scene.changed(lambda data: data.update(alerts={"webhooks": [{"name": "x"}]}))
        bad = {"routing": {"rules": "/nowhere.json"}, "alerts": {"webhooks": [ops(receiver)]}}
        with pytest.raises(ConfigError):
            await scene.take(lambda data: data.update(bad))
        await _break(scene)
        assert receiver.requests == []

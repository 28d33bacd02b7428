"""R10, R70, R71: answers whole and streamed, with their account."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from hybridge.budget.allowance import Rate
from hybridge.core.errors import BackendError, Fault
from hybridge.core.plan import Route
from hybridge.core.wire import completion
from hybridge.testing.backend import whole
from hybridge.testing.gateway import REPORT, USAGE, ScriptedGateway, piece, usage_piece

pytestmark = pytest.mark.anyio
STREAM = {"stream": True}
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}
BROKEN = BackendError("gpt hung up", backend="gpt", fault=Fault.NETWORK)


async def test_whole_answer_is_passed_on_with_its_account(opened, chat):
    async with opened(whole("Hello.")) as door:
        got = await door.ask(body=chat())
    assert got.status == 200
    assert got.json["choices"][0]["message"]["content"] == "Hello."
    account = got.json["hybridge"]
    assert list(account) == [
        "request_id", "route", "tier", "model", "score", "confidence", "reasons", "dropped",
        "degraded", "notice", "thresholds", "overhead_ms", "cost_usd", "saved_usd",
    ]  # fmt: skip
    assert account["dropped"] == [{"backend": "local", "reason": "too small"}]
    assert account["thresholds"] == {"edge_max": 4, "cloud_min": 7, "version": "shipped"}
    assert account["cost_usd"] == pytest.approx(1.2e-6)
    assert account["overhead_ms"] == 1.23456
    assert got.headers["x-hybridge-request-id"] == account["request_id"]


async def test_headers_say_the_same(opened, chat):
    async with opened() as door:
        got = await door.ask(body=chat())
    said = {k.removeprefix("x-hybridge-"): v for k, v in got.headers.items() if "hybridge" in k}
    said.pop("request-id")
    assert said == {
        "route": "cloud_classified", "model": "gpt-4o", "score": "8.25", "confidence": "0.75",
        "overhead-ms": "1.235",
    }  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
async def test_what_is_left_of_an_allowance_is_told_in_headers(opened, chat, stream):
    gateway = ScriptedGateway(
        *((piece("Hi"), piece(finish="stop")) if stream else (whole("Hi"),)),
        rates={"requests": Rate(60, 59, 0.9), "tokens": Rate(1000, 400, 36.04)},
    )
    async with opened(gateway=gateway) as door:
        got = await door.ask(body=chat(stream=stream))
    assert {k: v for k, v in got.headers.items() if k.startswith("x-ratelimit")} == {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "0.900s",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "400",
        "x-ratelimit-reset-tokens": "36.040s",
    }


async def test_report_in_body_can_be_switched_off(opened, chat):
    async with opened(piece("Hi"), piece(finish="stop"), report_in_body=False) as door:
        got = await door.ask(body=chat(**STREAM))
    assert b"hybridge" not in got.body
    assert got.headers["x-hybridge-route"] == "cloud_classified"


async def test_degraded_is_marked_in_body_header_and_last_event(opened, chat):
    said = replace(REPORT, route=Route.EDGE_DEGRADED, degraded=True, notice="云端不可用")
    gateway = ScriptedGateway(piece("Hi"), piece(finish="stop"), said=said)
    async with opened(gateway=gateway) as door:
        got = await door.ask(body=chat(**STREAM))
    assert got.headers["x-hybridge-degraded"] == "true"
    last = json.loads(got.events[-2])
    assert (last["hybridge"]["degraded"], last["hybridge"]["notice"]) == (True, "云端不可用")
    assert got.events[-1] == "[DONE]"


async def test_a_model_name_that_no_header_can_hold_is_encoded(opened, chat):
    gateway = ScriptedGateway(said=replace(REPORT, model="模型\r\nx: y"))
    async with opened(gateway=gateway) as door:
        got = await door.ask(body=chat())
    assert got.headers["x-hybridge-model"] == "%E6%A8%A1%E5%9E%8B%0D%0Ax:%20y".replace("%20", " ")
    assert "x" not in got.headers


async def test_whole_answer_without_usage_gets_an_estimate(opened, chat):
    bare = completion(
        b'{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",'
        b'"content":"Hi"},"finish_reason":"stop"}],"usage":null}'
    )
    async with opened(bare) as door:
        got = await door.ask(body=chat())
    assert got.json["usage"] == {
        "prompt_tokens": 4, "completion_tokens": 6, "total_tokens": 10, "estimated": True,
    }  # fmt: skip
    assert got.body.count(b'"usage"') == 1


USAGES = {
    "own": [piece("Hi", usage=None), piece(finish="stop", usage=None), usage_piece()],
    "on finish": [piece("Hi"), piece(finish="stop", usage=USAGE)],
    "everywhere": [piece("Hi", usage=USAGE), piece(finish="stop", usage=USAGE), usage_piece()],
    "none": [piece("Hi"), piece(finish="stop")],
}


@pytest.mark.parametrize("where", USAGES)
async def test_usage_chunk_exactly_one_where_asked(opened, chat, where):
    """B01."""
    async with opened(*USAGES[where]) as door:
        got = await door.ask(body=chat(**WITH_USAGE))
    *chunks, done = got.events
    parsed = [json.loads(c) for c in chunks]
    assert done == "[DONE]"
    assert [len(c["choices"]) for c in parsed] == [1, 1, 0]
    assert [bool(c.get("usage")) for c in parsed] == [False, False, True]
    assert parsed[1]["choices"][0]["finish_reason"] == "stop"
    assert parsed[2]["usage"].get("estimated", False) is (where == "none")
    assert parsed[2]["hybridge"]["route"] == "cloud_classified"
    assert (parsed[2]["id"], parsed[2]["model"]) == ("c1", "m")
    assert not any("hybridge" in c for c in parsed[:-1])


@pytest.mark.parametrize("where", USAGES)
async def test_no_trace_of_usage_where_not_asked(opened, chat, where):
    """B01."""
    async with opened(*USAGES[where]) as door:
        got = await door.ask(body=chat(**STREAM))
    *chunks, done = got.events
    parsed = [json.loads(c) for c in chunks]
    assert done == "[DONE]"
    assert [len(c["choices"]) for c in parsed] == [1, 1]
    assert not any("usage" in c for c in parsed)
    assert parsed[-1]["hybridge"]["request_id"] == got.headers["x-hybridge-request-id"]


async def test_chunks_pass_through_byte_for_byte(opened, chat):
    first = piece("你好 😀", odd={"kept": [1, 2.50]})
    async with opened(first, piece(finish="stop")) as door:
        got = await door.ask(body=chat(**STREAM))
    assert got.events[0].encode() == first.wire
    assert got.headers["content-type"].startswith("text/event-stream")


BREAKS = {
    "error": ([piece("one"), piece(" two"), BROKEN], "upstream_network"),
    "no finish reason": ([piece("one"), piece(" two")], "upstream_protocol"),
    "before its text": ([piece(), BROKEN], "upstream_network"),
    "not ours": ([piece("one"), ValueError("boom " * 3)], "internal"),
}


@pytest.mark.parametrize("how", BREAKS)
async def test_a_stream_that_breaks_ends_with_one_error_event(opened, chat, how):
    """B04: the framing ends cleanly, nothing looks like success."""
    steps, code = BREAKS[how]
    async with opened(*steps) as door:
        got = await door.ask(body=chat(**WITH_USAGE))
    assert got.status == 200
    *sent, last = got.events
    assert set(json.loads(last)) == {"error"}
    assert json.loads(last)["error"]["code"] == code
    assert not any('"error"' in event for event in sent)
    assert b"[DONE]" not in got.body
    assert b'"stop"' not in got.body
    assert b"boom" not in got.body


async def test_a_failure_before_the_first_event_is_a_plain_error(opened, chat):
    async with opened(0.01, BROKEN) as door:
        got = await door.ask(body=chat(**STREAM))
    assert (got.status, got.headers["content-type"]) == (502, "application/json")
    assert got.json["error"]["code"] == "upstream_network"


async def test_route_runs_nothing(opened, chat):
    async with opened() as door:
        got = await door.ask("/v1/route", chat())
        assert door.gateway.begun.is_set() is False
    assert (got.status, got.json["route"]) == (200, "cloud_classified")
    assert got.json["request_id"] == got.headers["x-hybridge-request-id"]

"""The endpoints, over a socket."""

from __future__ import annotations

import base64

import pytest

from hybridge.core.errors import (
    BackendError,
    BudgetExhausted,
    Fault,
    NotServed,
    PrivacyNoLocalPath,
    RateLimited,
    RequestError,
    Unsupported,
)
from hybridge.core.request import Feature
from hybridge.testing.backend import calling
from hybridge.testing.backend import whole as said
from hybridge.testing.gateway import piece, usage_piece

pytestmark = pytest.mark.anyio
MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
BROKEN = BackendError("gpt hung up", backend="gpt", fault=Fault.NETWORK)
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0123456789").decode()


async def test_whole(opened, body):
    async with opened(said("Hello.")) as door:
        got = await door.ask(MESSAGES, body(), headers={"anthropic-version": "2023-06-01"})
    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert got.json["content"] == [{"type": "text", "text": "Hello."}]
    assert got.json["usage"]["input_tokens"] == 5
    assert got.json["id"] == got.headers["x-hybridge-request-id"].replace("req-", "msg_")
    assert got.json["hybridge"]["route"] == got.headers["x-hybridge-route"] == "cloud_classified"


async def test_the_gateway_gets_a_chat_request(opened, body):
    picture = {"type": "base64", "media_type": "image/png", "data": PNG}
    async with opened(calling("f", "{}")) as door:
        await door.ask(MESSAGES, body({"type": "image", "source": picture}, system="Be brief."))
        (visit,) = door.gateway.visits
    request = visit.request
    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.features == {Feature.IMAGES}
    assert not request.stream


async def test_stream(opened, body, events, gathered):
    async with opened(piece("你"), piece("好"), piece(finish="stop"), usage_piece()) as door:
        got = await door.ask(MESSAGES, body(stream=True))
        (visit,) = door.gateway.visits
    assert got.headers["content-type"].startswith("text/event-stream")
    heard = events(got.body)
    message = gathered(heard)
    assert message["content"] == [{"type": "text", "text": "你好"}]
    assert (message["usage"]["input_tokens"], message["usage"]["output_tokens"]) == (3, 2)
    assert heard[-2][1]["hybridge"]["request_id"] == got.headers["x-hybridge-request-id"]
    assert visit.request.include_usage


async def test_the_report_can_be_left_out(opened, body):
    async with opened(piece("a"), piece(finish="stop"), report_in_body=False) as door:
        got = await door.ask(MESSAGES, body(stream=True))
    assert b'"hybridge"' not in got.body


@pytest.mark.parametrize("broken", [BROKEN, None])
async def test_a_stream_that_breaks_ends_with_one_error(opened, body, events, broken):
    steps = [piece("a"), *([broken] if broken else [])]
    async with opened(*steps) as door:
        got = await door.ask(MESSAGES, body(stream=True))
    heard = events(got.body)
    names = [name for name, _ in heard]
    assert names[0] == "message_start"
    assert names.count("error") == 1
    assert names[-1] == "error"
    assert heard[-1][1]["error"]["type"] == "api_error"
    assert heard[-1][1]["request_id"] == got.headers["x-hybridge-request-id"]


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (RequestError("no"), 400, "invalid_request_error"),
        (Unsupported("no"), 400, "invalid_request_error"),
        (PrivacyNoLocalPath("no"), 422, "invalid_request_error"),
        (BudgetExhausted("no", retry_after_s=9), 429, "rate_limit_error"),
        (RateLimited("no", retry_after_s=9), 429, "rate_limit_error"),
        (NotServed("no"), 503, "overloaded_error"),
        (BROKEN, 502, "api_error"),
        (
            BackendError("no", backend="gpt", fault=Fault.BUSY, status=529),
            529,
            "overloaded_error",
        ),
        (BackendError("no", backend="gpt", fault=Fault.TIMEOUT), 504, "timeout_error"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_errors_before_the_first_event_have_a_status(
    opened, body, error, status, kind, stream
):
    async with opened(error) as door:
        got = await door.ask(MESSAGES, body(stream=stream))
    assert got.status == status
    assert (got.json["type"], got.json["error"]["type"]) == ("error", kind)
    assert got.json["request_id"] == got.headers["x-hybridge-request-id"]
    assert ("retry-after" in got.headers) == (status in (429, 503))


@pytest.mark.parametrize("path", [MESSAGES, COUNT])
async def test_faults_of_the_caller(opened, body, path):
    async with opened(keys={"me": "k-1"}, max_body_mb=0.001) as door:
        key = {"x-api-key": "k-1"}
        nobody = await door.ask(path, body())
        broken = await door.ask(path, b"{", headers=key)
        large = await door.ask(path, body({"type": "text", "text": "x" * 2000}), headers=key)
        wrong = await door.ask(path, body({"type": "text"}), headers=key)
        there = await door.ask(path, method="GET", headers=key)
    told = [(got.status, got.json["error"]["type"]) for got in (nobody, broken, large, wrong)]
    assert told == [
        (401, "authentication_error"),
        (400, "invalid_request_error"),
        (413, "request_too_large"),
        (400, "invalid_request_error"),
    ]
    assert wrong.json["error"]["param"] == "messages.0.content.0.text"
    assert wrong.json["error"]["details"] == {"error_code": "invalid_value"}
    assert (there.status, there.json["type"]) == (405, "error")


async def test_a_prompt_is_counted(opened, body):
    async with opened() as door:
        got = await door.ask(
            COUNT, body({"type": "text", "text": "x" * 50}, max_tokens=None, system="y" * 49)
        )
    assert (got.status, got.json) == (200, {"input_tokens": 10})
    assert not door.gateway.visits


async def test_no_prompt_is_counted_by_a_gateway_that_shuts_down(opened, body):
    async with opened() as door:
        door.app.drain.begin()
        got = await door.ask(COUNT, body())
    assert (got.status, got.json["error"]["type"]) == (503, "overloaded_error")

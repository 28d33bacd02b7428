"""B19, B20: whatever an upstream answers, the caller gets an error it can use, and no secret."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.server.errors import failure
from hybridge.testing.replies import answers, fails, hangs, page, raw
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("stream", [False, True])
KEY = "sk-the-gateways-own-key"
SEEN = {"x-request-id": "req_42"}


def echoing(status):
    """A provider that repeats the key it was given."""
    return lambda received: fails(
        status, f"Bad: {received.headers['authorization']}", headers=SEEN
    )(received)


CASES = [
    ("400", fails(400, "bad n", param="n"), 400),
    ("401", echoing(401), 502),
    ("402", echoing(402), 502),
    ("403", echoing(403), 502),
    ("404", fails(404, "no such model"), 404),
    ("407", echoing(407), 400),
    ("413", fails(413, "too large"), 413),
    ("422", fails(422, "unprocessable"), 422),
    ("429", fails(429, "slow down"), 429),
    ("500", fails(500), 502),
    ("502", page(502), 502),
    ("503", page(503), 503),
    ("529", fails(529), 529),
    ("hang", hangs(), 504),
    ("invalid JSON", raw(b"{nope"), 502),
    ("an HTML page", page(200), 502),
    ("an empty body", raw(b""), 502),
    ("an empty 500", raw(b"", 500), 502),
    ("an error with 200", fails(200, "lost it", code="server_error"), 502),
    ("no answer at all", answers({"object": "list", "data": []}), 502),
    ("no quota", fails(429, "You exceeded your quota", code="insufficient_quota"), 502),
    (
        "a redirect",
        raw(b"<html>", 302, {"location": "https://login.invalid/?k=sk-0123456789ab"}),
        502,
    ),
]


async def told(up, stream, **body):
    with pytest.raises(BackendError) as caught:
        await up.ask(stream=stream, **body)
    return caught.value, failure(caught.value, Redactor([KEY]))


def header(shown, name):
    return next((value.decode() for key, value in shown.headers if key.decode() == name), None)


@BOTH
@pytest.mark.parametrize(
    ("reply", "status"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
async def test_the_caller_gets_json_with_a_status_that_is_the_callers_business(
    asked, stream, reply, status
):
    async with asked(reply, first_byte_s=0.3, total_s=0.3) as up:
        _, shown = await told(up, stream)
    assert shown.status == status
    error = json.loads(shown.body)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    assert error["type"]
    for secret in (KEY, "sk-0123456789ab", "<html", "nginx", "Traceback"):
        assert secret not in shown.body.decode()


@BOTH
@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_the_upstreams_request_id_is_kept_by_another_name(asked, stream, status):
    async with asked(fails(status, headers=SEEN | {"server": "x", "connection": "close"})) as up:
        _, shown = await told(up, stream)
    assert header(shown, "x-upstream-request-id") == "req_42"
    assert {name for name, _ in shown.headers} <= {
        b"x-upstream-request-id", b"retry-after", b"x-should-retry",
    }  # fmt: skip


@BOTH
@pytest.mark.parametrize(
    ("status", "never"), [(401, True), (403, True), (404, False), (429, False), (500, False)]
)
async def test_official_clients_are_kept_from_asking_again_in_vain(asked, stream, status, never):
    """A 502 is retried by them, and a wrong key stays wrong; a 404 they do not retry anyway."""
    async with asked(fails(status)) as up:
        _, shown = await told(up, stream)
    assert (header(shown, "x-should-retry") == "false") is never


def in_seconds(seconds):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@BOTH
@pytest.mark.parametrize("status", [429, 503, 500, 529])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, (30, 30)),
        ({"retry-after": "0.2"}, (1, 1)),
        ({"retry-after-ms": "2500"}, (3, 3)),
        ({"retry-after": in_seconds(60)}, (1, 60)),
    ],
)
async def test_how_long_to_wait_reaches_the_caller_in_whole_seconds(
    asked, stream, status, headers, seconds
):
    async with asked(fails(status, headers=headers)) as up:
        _, shown = await told(up, stream)
    low, high = seconds
    assert low <= int(header(shown, "retry-after") or 0) <= high


@BOTH
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_is_followed_with_the_key(asked, stream, status):
    async with Upstream() as elsewhere:
        moved = raw(b"", status, {"location": f"{elsewhere.base_url}/chat/completions"})
        async with asked(moved) as up:
            error, _ = await told(up, stream)
        assert not elsewhere.requests
    assert error.fault is Fault.PROTOCOL
    assert "redirects to 127.0.0.1" in str(error)


TOO_LONG = [
    {"code": "context_length_exceeded", "message": "too long"},
    {"message": "This model's maximum context length is 8 tokens, you requested 9."},
    {"message": "输入过长：最多 8 个 token，收到 9 个"},
]


@BOTH
@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize("error", TOO_LONG)
async def test_too_long_a_prompt_has_one_name_for_the_caller(asked, stream, status, error):
    """B24."""
    async with asked(answers({"error": error}, status)) as up:
        caught, shown = await told(up, stream)
    assert caught.fault is Fault.CONTEXT
    assert (shown.status, shown.code, shown.param) == (400, "context_length_exceeded", "messages")
    assert len(up.upstream.posts) == 1

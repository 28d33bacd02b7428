"""What an upstream's failure is, by its structure."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from hybridge.cloud import faults
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor

KEY = "sk-our-own-key-0123456789"
redact = Redactor([KEY])


def failed(status: int, body: object = None, **headers: str) -> BackendError:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return faults.of_response("up", status, named, sent, redact)


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (400, Fault.CALLER),
        (404, Fault.CALLER),
        (413, Fault.CALLER),
        (422, Fault.CALLER),
        (401, Fault.CREDENTIALS),
        (402, Fault.CREDENTIALS),
        (403, Fault.CREDENTIALS),
        (429, Fault.BUSY),
        (500, Fault.SERVER),
        (502, Fault.SERVER),
        (503, Fault.SERVER),
        (529, Fault.SERVER),
        (504, Fault.TIMEOUT),
        (302, Fault.PROTOCOL),
        (204, Fault.PROTOCOL),
    ],
)
def test_by_status(status, fault):
    error = failed(status, {"error": {"message": "so"}})
    assert (error.fault, error.status, error.backend) == (fault, status, "up")
    assert error.body == {"message": "so"}


def test_unavailable_for_a_known_time_is_busy():
    assert failed(503, retry_after="3").fault is Fault.BUSY


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "message": "提示词太长"},
        {"type": "exceed_context_size_error", "n_prompt_tokens": 900, "n_ctx": 512},
        {"message": "the request exceeds the available context size", "n_ctx": 512},
        {"type": "BadRequestError", "param": "input_tokens", "code": 400},
    ],
)
def test_too_long_a_prompt_is_known_whatever_the_words(error):
    assert failed(400, {"error": error}).fault is Fault.CONTEXT
    assert faults.in_band("up", error, redact).fault is Fault.CONTEXT


@pytest.mark.parametrize("odd", [{"code": [1], "type": {}}, {"code": None}, {}, {"code": 7}])
def test_odd_codes_mean_nothing(odd):
    assert failed(400, {"error": odd | {"message": "m"}}).fault is Fault.CALLER


@pytest.mark.parametrize(
    "body",
    [
        b"<html><title>502 Bad Gateway</title>nginx</html>",
        b"",
        b"\xff\xfe",
        b"5",
        b"[]",
        b'{"detail": "no"}',
        b'{"error": null}',
    ],
)
def test_what_is_no_error_object_is_not_passed_on(body):
    error = failed(502, body)
    assert error.body is None
    assert str(error) == "up answered 502"


@pytest.mark.parametrize(
    "body",
    [
        {"error": "no"},
        {"message": "no", "object": "error"},
        [{"error": {"message": "no"}}],
    ],
)
def test_other_shapes_of_error_are_understood(body):
    error = failed(400, body)
    assert error.body is not None
    assert error.body["message"] == "no"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "30"}, 30.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after_ms": "soon", "retry_after": "9"}, 9.0),
        ({"retry_after": "-4"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers, seconds):
    assert failed(429, **headers).retry_after_s == seconds


def test_how_long_to_wait_as_a_date():
    soon = datetime.now(UTC) + timedelta(seconds=60)
    waiting = failed(429, retry_after=format_datetime(soon, usegmt=True)).retry_after_s
    assert waiting is not None
    assert 50 < waiting <= 60
    past = failed(429, retry_after="Sun, 06 Nov 1994 08:49:37 GMT")
    assert past.retry_after_s == 0.0


@pytest.mark.parametrize("name", ["x_request_id", "request_id"])
def test_the_upstreams_request_id_is_kept(name):
    assert failed(500, **{name: "req-7"}).upstream_id == "req-7"


def test_our_key_is_never_passed_on():
    echoed = {
        "message": f"Incorrect API key provided: {KEY}",
        "metadata": {"raw": f"Authorization: Bearer {KEY}", "all": [{"key": KEY}]},
    }
    for error in (failed(401, {"error": echoed}), faults.in_band("up", echoed, redact)):
        assert KEY not in str(error)
        assert KEY not in json.dumps(error.body)


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (429, Fault.BUSY),
        (502, Fault.SERVER),
        (400, Fault.CALLER),
        ("server_error", Fault.PROTOCOL),
        (None, Fault.PROTOCOL),
        (1301, Fault.PROTOCOL),
    ],
)
def test_errors_inside_a_stream(code, fault):
    assert faults.in_band("up", {"message": "m", "code": code}, redact).fault is fault

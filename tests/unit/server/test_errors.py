"""R71, B19, B20, B49: one table from errors to HTTP."""

from __future__ import annotations

import json

import pytest

from hybridge.core.errors import (
    RATE_LIMITED,
    BackendError,
    BudgetExhausted,
    ConfigError,
    Fault,
    HybridgeError,
    ModelError,
    NotServed,
    PrivacyNoLocalPath,
    RateLimited,
    RequestError,
    Unauthorized,
    UnknownModel,
    Unsupported,
)
from hybridge.core.redaction import Redactor
from hybridge.server.errors import Failure, failure

KEY = "sk-upstream-key-0123456789"


def told(error: HybridgeError) -> Failure:
    return failure(error, Redactor([KEY]))


def upstream(fault: Fault, status: int | None = None, **more) -> Failure:
    return told(BackendError("gpt failed", backend="gpt", fault=fault, status=status, **more))


def header(shown: Failure, name: str) -> str | None:
    return next((value.decode() for key, value in shown.headers if key.decode() == name), None)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RequestError("no", param="n"), 400, None),
        (RequestError("big", code="request_too_large"), 413, "request_too_large"),
        (Unauthorized("no"), 401, "invalid_api_key"),
        (UnknownModel("no"), 404, "model_not_found"),
        (Unsupported("no", code="unsupported"), 400, "unsupported"),
        (PrivacyNoLocalPath("no"), 422, "privacy_no_local_path"),
        (NotServed("no", code="privacy_local_unavailable"), 503, "privacy_local_unavailable"),
        (NotServed("no", code=RATE_LIMITED), 429, "rate_limit_exceeded"),
        (RateLimited("no", retry_after_s=3), 429, "rate_limit_exceeded"),
        (BudgetExhausted("no", retry_after_s=60), 429, "budget_exhausted"),
        (ModelError("no"), 503, "model_unavailable"),
        (ConfigError("no"), 500, "misconfigured"),
        (HybridgeError("no"), 500, "internal"),
    ],
)
def test_each_error_has_its_status(error, status, code):
    shown = told(error)
    assert (shown.status, shown.code) == (status, code)
    assert set(json.loads(shown.body)["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("fault", "status", "seen"),
    [
        (Fault.CALLER, 400, 400),
        (Fault.CALLER, 404, 404),
        (Fault.CALLER, 413, 413),
        (Fault.CALLER, 422, 422),
        (Fault.CONTEXT, None, 400),
        (Fault.CREDENTIALS, 401, 502),
        (Fault.CREDENTIALS, 402, 502),
        (Fault.CREDENTIALS, 403, 502),
        (Fault.ABSENT, 404, 404),
        (Fault.ABSENT, 405, 502),
        (Fault.UNABLE, 400, 400),
        (Fault.UNABLE, None, 400),
        (Fault.CONTEXT, 413, 400),
        (Fault.LIMITED, 429, 429),
        (Fault.LIMITED, None, 429),
        (Fault.BUSY, 529, 529),
        (Fault.BUSY, 429, 429),
        (Fault.BUSY, 503, 503),
        (Fault.BUSY, None, 503),
        (Fault.SERVER, 500, 502),
        (Fault.SERVER, 502, 502),
        (Fault.SERVER, None, 502),
        (Fault.NETWORK, None, 502),
        (Fault.TIMEOUT, None, 504),
        (Fault.PROTOCOL, 200, 502),
        (Fault.REFUSED, None, 503),
    ],
)
def test_an_upstreams_status_is_kept_where_it_concerns_the_caller(fault, status, seen):
    assert upstream(fault, status).status == seen


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("status", [None, 200, 302, 400, 401, 402, 403, 407, 500])
def test_no_upstream_makes_the_caller_look_unauthorised(fault, status):
    shown = upstream(fault, status)
    assert shown.status not in (401, 402, 403, 407)
    assert shown.status >= 400


def test_the_upstreams_error_object_is_kept():
    body = {
        "message": "bad n",
        "type": "invalid_request_error",
        "param": "n",
        "code": "x",
        "more": 1,
    }
    shown = upstream(Fault.CALLER, 400, body=body, upstream_id="req_1")
    assert json.loads(shown.body)["error"] == {
        k: body[k] for k in ("message", "type", "param", "code")
    }
    assert header(shown, "x-upstream-request-id") == "req_1"


@pytest.mark.parametrize("odd", [{"message": ["x"]}, {"code": {"a": 1}}, {"type": 5}, {}])
def test_an_odd_error_object_becomes_a_plain_one(odd):
    error = json.loads(upstream(Fault.CALLER, 400, body=odd).body)["error"]
    assert error["message"] == "gpt failed"
    assert error["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.2, "1"), (29.5, "30"), (30.0, "30"), (None, "1")]
)
def test_retry_after_is_whole_seconds(seconds, shown):
    """B20."""
    assert header(upstream(Fault.BUSY, 429, retry_after_s=seconds), "retry-after") == shown


def test_own_refusals_carry_it_too():
    assert header(told(NotServed("no", retry_after_s=2.1)), "retry-after") == "3"
    assert header(told(BudgetExhausted("no", retry_after_s=60)), "retry-after") == "60"


@pytest.mark.parametrize(
    "message",
    [
        f"Incorrect API key: {KEY}",
        f"GET /v1?key={KEY}",
        "Bearer another-long-token",
        "sk-abc123def456",
    ],
)
@pytest.mark.parametrize("fault", [Fault.CALLER, Fault.CREDENTIALS, Fault.SERVER])
def test_no_secret_gets_out(message, fault):
    """B49: neither of ours, nor one that an upstream echoes."""
    body = {"message": message}
    error = BackendError(message, backend="gpt", fault=fault, status=400, body=body)
    shown = told(error).body.decode()
    for secret in (KEY, "another-long-token", "sk-abc123def456"):
        assert secret not in shown
        assert secret[:8] not in shown


def test_a_refused_key_of_ours_tells_nothing_of_the_upstreams_words():
    shown = upstream(
        Fault.CREDENTIALS, 401, body={"message": "Incorrect key", "code": "invalid_api_key"}
    )
    assert b"invalid_api_key" not in shown.body
    assert b"Incorrect" not in shown.body


def test_a_backend_that_rests_for_its_rate_limit_is_told_as_one():
    """B20: it was not asked again, and the caller learns the same as if it had been."""
    resting = {"body": {"code": RATE_LIMITED}, "retry_after_s": 29.5}
    shown = upstream(Fault.REFUSED, **resting)
    assert (shown.status, shown.type, shown.code) == (429, "rate_limit_error", RATE_LIMITED)
    assert header(shown, "retry-after") == "30"


def test_too_long_has_one_code_whatever_the_upstream_calls_it():
    shown = upstream(Fault.CONTEXT, 400, body={"message": "9 of 8", "code": 1261, "type": "x"})
    assert (shown.code, shown.param, shown.message) == (
        "context_length_exceeded",
        "messages",
        "9 of 8",
    )

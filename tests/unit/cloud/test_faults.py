"""What an upstream's failure is, by its structure."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from hybridge.cloud import faults
from hybridge.cloud.error_body import LONGEST
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
        (404, Fault.ABSENT),
        (405, Fault.ABSENT),
        (413, Fault.CALLER),
        (422, Fault.CALLER),
        (401, Fault.CREDENTIALS),
        (402, Fault.CREDENTIALS),
        (403, Fault.CREDENTIALS),
        (429, Fault.LIMITED),
        (500, Fault.SERVER),
        (502, Fault.SERVER),
        (503, Fault.SERVER),
        (529, Fault.BUSY),
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


WORDINGS = [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "prompt is too long: 208310 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Invalid request: Your request exceeded model token limit: 8192",
    "This model's maximum prompt length is 131072 but the request contains 180000 tokens.",
    "Range of input length should be [1, 30720]",
    "The input (9000 tokens) is longer than the model's context length (4096 tokens).",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "Input length 877338 exceeds the maximum allowed input length of 639968 tokens",
    "Prompt exceeds max length",
    "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000",
    "输入过长，请缩短后重试",
    "输入内容超出最大长度限制 8192",
    "该模型的最大上下文长度为 32768 个 token",
    "请求的 tokens 数超过了限制",
    "Prompt 超长",
]
NOT_ABOUT_THE_CONTEXT = [
    "max_tokens is too large: 100000. This model supports at most 4096 completion tokens.",
    "Invalid value for 'max_tokens': must be less than or equal to 8192",
    "invalid token in the schema",
    "messages: at least one message is required",
    "参数 max_tokens 超出范围",
    "temperature 必须在 0 到 2 之间",
    "",
]


@pytest.mark.parametrize("said", WORDINGS)
@pytest.mark.parametrize("status", [400, 413, 422])
def test_too_long_a_prompt_is_known_by_its_wording_where_there_is_no_code(said, status):
    assert failed(status, {"error": {"message": said}}).fault is Fault.CONTEXT


@pytest.mark.parametrize("said", NOT_ABOUT_THE_CONTEXT)
def test_what_only_sounds_like_it(said):
    assert failed(400, {"error": {"message": said}}).fault is Fault.CALLER


@pytest.mark.parametrize("said", WORDINGS)
@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_wording_never_overrules_another_status(said, status):
    assert failed(status, {"error": {"message": said}}).fault is not Fault.CONTEXT


def test_numbers_that_stand_beside_the_message_are_told():
    error = failed(400, {"error": {"message": "too long", "n_prompt_tokens": 900, "n_ctx": 512}})
    assert error.body is not None
    assert error.body["message"] == "too long (900 tokens, the context is 512)"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"code": "insufficient_quota", "type": "insufficient_quota"}),
        (400, {"code": "Arrearage", "message": "Access denied"}),
        (
            429,
            {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}},
        ),
    ],
)
def test_an_account_without_money_is_the_operators_whatever_the_status(status, error):
    assert failed(status, {"error": error}).fault is Fault.CREDENTIALS


@pytest.mark.parametrize(
    "error",
    [
        {"code": "unsupported_value", "param": "temperature", "message": "Unsupported value"},
        {"message": "`temperature` is deprecated for this model."},
        {"message": "'logprobs' is not supported with this model."},
        {"message": "该模型不支持图片"},
    ],
)
def test_what_one_model_cannot_do_another_may(error):
    assert failed(400, {"error": error}).fault is Fault.UNABLE


def test_a_list_of_wrong_fields_is_understood():
    wrong = [{"type": "extra_forbidden", "loc": ["body", "max_tokens"], "msg": "Extra inputs"}]
    for body in ({"detail": wrong}, {"object": "error", "message": {"detail": wrong}}):
        error = failed(422, body)
        assert error.body is not None
        assert error.body["message"] == "max_tokens: Extra inputs"
        assert error.body["param"] == "max_tokens"


def test_a_redirect_is_named_but_its_query_is_not():
    error = failed(302, b"", location="https://login.invalid/?token=sk-secret")
    assert "login.invalid" in str(error)
    assert "sk-secret" not in str(error)


@pytest.mark.parametrize("where", ["http://[", "", "/elsewhere"])
def test_a_redirect_to_nowhere_is_one_too(where):
    assert failed(302, b"", location=where).fault is Fault.PROTOCOL


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
        b'{"detail": []}',
        b'{"error": null}',
        b'{"error": {"message": "' + b"x" * LONGEST + b'"}}',
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
        {"detail": "no"},
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
        ({"retry_after": "Mon, 01 Jan 2024 00:00:00 +99999999999"}, None),
        ({"retry_after": "Mon, 01 Jan 99999999999 00:00:00 GMT"}, None),
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


def test_a_date_is_read_by_the_clock_of_the_server_that_wrote_it():
    wrong = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
    then = wrong + timedelta(seconds=90)
    told = {"date": format_datetime(wrong, usegmt=True)}
    assert failed(429, retry_after=format_datetime(then, usegmt=True), **told).retry_after_s == 90


DEEP = 900  # of these msgspec reads more than Python likes to walk through


@pytest.mark.parametrize(
    "nested", [b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP]
)
def test_an_error_however_deep_is_told_without_its_depths(nested):
    body = b'{"error": {"message": "no", "inner": ' + nested + b"}}"
    error = failed(500, body)
    if error.body is not None:  # how deep is too deep to read depends on the machine
        assert error.body["message"] == "no"
    told = faults.in_band("up", {"message": "no", "inner": deep(DEEP)}, redact)
    assert (told.fault, str(told)) == (Fault.PROTOCOL, "up: no")


def deep(levels):
    made = {"key": KEY}
    for _ in range(levels):
        made = {"inner": made}
    return made


def test_a_secret_is_found_as_deep_as_is_told():
    assert KEY not in repr(failed(500, {"error": {"message": "m", "inner": deep(20)}}).body)


@pytest.mark.parametrize("detail", [[{"loc": 5, "msg": "no"}], [{"loc": [[1]], "msg": "no"}]])
def test_a_place_that_is_none(detail):
    assert failed(422, {"detail": detail}).body == {"message": "no"}


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
        (429, Fault.LIMITED),
        ("429", Fault.LIMITED),
        (502, Fault.SERVER),
        (400, Fault.CALLER),
        ("server_error", Fault.SERVER),
        ("context_length_exceeded", Fault.CONTEXT),
        ("insufficient_quota", Fault.CREDENTIALS),
        (None, Fault.PROTOCOL),
        (1301, Fault.PROTOCOL),
    ],
)
def test_errors_inside_a_stream(code, fault):
    assert faults.in_band("up", {"message": "m", "code": code}, redact).fault is fault

"""Errors in Anthropic's words."""

from __future__ import annotations

import msgspec
import pytest

from hybridge.server.errors import Failure
from hybridge.server.shapes.messages import Messages
from hybridge.server.shapes.messages.errors import error_type


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (405, "invalid_request_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (503, "overloaded_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_the_type_follows_the_status(status, kind):
    assert error_type(status) == kind


def test_all_that_is_known_is_told():
    failed = Failure(400, "`top_k` must be …", "invalid_request_error", "invalid_value", "top_k")
    assert msgspec.json.decode(Messages(lambda _: 1).failure(failed, "req-1")) == {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "`top_k` must be …",
            "param": "top_k",
            "details": {"error_code": "invalid_value"},
        },
        "request_id": "req-1",
    }


def test_what_is_not_known_is_left_out():
    told = msgspec.json.decode(Messages(lambda _: 1).failure(Failure(500, "x", "y"), "req-1"))
    assert told["error"] == {"type": "api_error", "message": "x"}

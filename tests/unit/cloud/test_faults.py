"""Failures are classified by status and structure."""

from __future__ import annotations

import json

import pytest

from hybridge.cloud.faults import in_band, of_response, retry_after
from hybridge.core.errors import Fault
from hybridge.core.redaction import Redactor

SECRET = "sk-very-secret-key-0123456789"
REDACT = Redactor([SECRET])


@pytest.mark.parametrize(
    ("status", "headers", "fault"),
    [
        (400, {}, Fault.CALLER),
        (401, {}, Fault.CREDENTIALS),
        (403, {}, Fault.CREDENTIALS),
        (404, {}, Fault.CALLER),
        (422, {}, Fault.CALLER),
        (429, {}, Fault.BUSY),
        (500, {}, Fault.SERVER),
        (502, {}, Fault.SERVER),
        (503, {}, Fault.SERVER),
        (503, {"retry-after": "7"}, Fault.BUSY),
        (504, {}, Fault.TIMEOUT),
        (302, {}, Fault.PROTOCOL),
    ],
)
def test_a_status_has_its_fault(status, headers, fault):
    error = of_response("b", status, headers, b"{}", REDACT)
    assert (error.fault, error.status, error.backend) == (fault, status, "b")


@pytest.mark.parametrize(
    "inner",
    [
        {"code": "context_length_exceeded", "message": "Zu lang."},
        {"type": "exceed_context_size_error", "message": "太长了"},
        {"n_ctx": 2048, "message": "anything at all"},
    ],
)
def test_an_overflow_is_known_by_its_structure_in_any_language(inner):
    body = json.dumps({"error": inner}).encode()
    assert of_response("b", 400, {}, body, REDACT).fault is Fault.CONTEXT
    assert in_band("b", inner, REDACT).fault is Fault.CONTEXT


def test_a_key_that_an_upstream_echoes_is_taken_out():
    body = json.dumps({"error": {"message": f"bad key {SECRET}", "param": SECRET}}).encode()
    error = of_response("b", 401, {}, body, REDACT)
    assert SECRET not in str(error)
    assert SECRET not in str(error.body)


def test_a_page_of_html_is_shown_to_nobody():
    error = of_response("b", 502, {}, b"<html>nginx</html>", REDACT)
    assert error.body is None
    assert "html" not in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, 30.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_each_of_its_forms(headers, seconds):
    assert retry_after(headers) == seconds

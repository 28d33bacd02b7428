"""Errors, as Anthropic's API tells them (https://docs.anthropic.com/en/api/errors)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hybridge.server.errors import Failure
from hybridge.server.shapes.faults import renamed

_TYPES: Mapping[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_NAMES: Mapping[str, str] = {
    "max_completion_tokens": "max_tokens",
    "parallel_tool_calls": "tool_choice.disable_parallel_tool_use",
    "reasoning_effort": "thinking",
    "response_format": "output_config.format",
    "stop": "stop_sequences",
    "user": "metadata.user_id",
}
"""What backends call a field, and what it is called here."""


def error_body(failed: Failure, request_id: str) -> bytes:
    """The body of a response, or the data of a stream's `error` event.

    `param` is the field at fault; our own stable word for the cause is in `details.error_code`,
    where their SDK looks for it.
    """
    failed = renamed(failed, _NAMES)
    error = {"type": error_type(failed.status), "message": failed.message}
    if failed.param is not None:
        error["param"] = failed.param
    told = error if failed.code is None else error | {"details": {"error_code": failed.code}}
    return msgspec.json.encode({"type": "error", "error": told, "request_id": request_id})


def error_type(status: int) -> str:
    """Their word for a status."""
    return _TYPES.get(status) or ("invalid_request_error" if status < 500 else "api_error")

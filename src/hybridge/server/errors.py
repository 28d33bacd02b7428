"""From this package's errors to HTTP: the one place that knows status codes (R71)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import msgspec

from hybridge.core.errors import (
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
)
from hybridge.server.drain import CODE as SHUTTING_DOWN
from hybridge.server.exchange import Header, Response

Redact = Callable[[str], str]
"""Takes keys and other secrets out of a text."""

_BY_CODE = {
    "not_found": 404,
    "request_timeout": 408,
    "request_too_large": 413,
    "unsupported_encoding": 415,
}
"""Request errors that HTTP has a status of its own for; any other is a 400."""
_BY_CLASS: Mapping[type[HybridgeError], tuple[int, str, str]] = {
    PrivacyNoLocalPath: (422, "invalid_request_error", "privacy_no_local_path"),
    BudgetExhausted: (429, "insufficient_quota", "budget_exhausted"),
    RateLimited: (429, "rate_limit_error", "rate_limit_exceeded"),
    ModelError: (503, "server_error", "model_unavailable"),
    ConfigError: (500, "server_error", "misconfigured"),
}
"""Status, type and code of errors that are always shown the same way."""
_BY_FAULT = {
    Fault.CALLER: 400,
    Fault.CONTEXT: 400,
    Fault.CREDENTIALS: 502,
    Fault.BUSY: 503,
    Fault.SERVER: 502,
    Fault.NETWORK: 502,
    Fault.TIMEOUT: 504,
    Fault.PROTOCOL: 502,
    Fault.REFUSED: 503,
}
"""Where the upstream gave no status, or one that is not the caller's business."""
_KEPT = {
    Fault.CALLER: range(400, 500),
    Fault.CONTEXT: range(400, 500),
    Fault.BUSY: (429, 503, 529),
    Fault.SERVER: range(500, 600),
    Fault.TIMEOUT: (504,),
}
"""The upstream's statuses that the caller gets as they are (R9, R71). A 401 is never among them:
it speaks of the gateway's key, not of the caller's."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as the caller sees it."""

    status: int
    message: str
    type: str
    code: str | None = None
    param: str | None = None
    headers: tuple[Header, ...] = ()

    @property
    def body(self) -> bytes:
        """OpenAI's error body."""
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return msgspec.json.encode({"error": error})

    @property
    def response(self) -> Response:
        """The whole response."""
        return Response(self.status, self.body, self.headers)


INTERNAL = Failure(500, "an internal error; the gateway's log has it", "server_error", "internal")
"""What a caller is told of an error that nobody meant to raise."""


def failure(error: HybridgeError, redact: Redact) -> Failure:
    """What a caller is told of `error`."""
    match error:
        case RequestError():
            return _of_request(error, redact)
        case BackendError():
            return _of_backend(error, redact)
        case NotServed():
            closing = ((b"connection", b"close"),) if error.code == SHUTTING_DOWN else ()
            headers = _retry_after(error.retry_after_s) + closing
            return Failure(503, redact(str(error)), "server_error", error.code, headers=headers)
    status, kind, code = _BY_CLASS.get(type(error), (500, "server_error", "internal"))
    wait_s = error.retry_after_s if isinstance(error, BudgetExhausted | RateLimited) else None
    headers = () if wait_s is None else _retry_after(wait_s)
    return Failure(status, redact(str(error)), kind, code, headers=headers)


def method_not_allowed(allowed: str) -> Failure:
    """For a path that exists, but not for this method; `allowed` lists those that do."""
    return Failure(
        405,
        f"this path takes {allowed} only",
        "invalid_request_error",
        "method_not_allowed",
        headers=((b"allow", allowed.encode()),),
    )


def _of_request(error: RequestError, redact: Redact) -> Failure:
    message, kind = redact(error.message), "invalid_request_error"
    if isinstance(error, Unauthorized):
        challenge = ((b"www-authenticate", b"Bearer"),)
        return Failure(401, message, kind, "invalid_api_key", headers=challenge)
    if isinstance(error, UnknownModel):
        return Failure(404, message, kind, error.code or "model_not_found", error.param)
    return Failure(_BY_CODE.get(error.code or "", 400), message, kind, error.code, error.param)


def _of_backend(error: BackendError, redact: Redact) -> Failure:
    status, kept = error.status, _KEPT.get(error.fault, ())
    if status is None or status not in kept or status in (401, 402, 403, 407):
        status = _BY_FAULT[error.fault]
    headers = () if error.retry_after_s is None else _retry_after(error.retry_after_s)
    if not headers and status in (429, 503):
        headers = _retry_after(1.0)
    if error.upstream_id:
        headers += ((b"x-upstream-request-id", _ascii(error.upstream_id)),)
    told = {} if error.fault is Fault.CREDENTIALS else error.body or {}
    return Failure(
        status=status,
        message=redact(_text(told, "message") or str(error)),
        type=_text(told, "type") or _kind(status),
        code=_code(told) or _own_code(error.fault),
        param=_text(told, "param"),
        headers=headers,
    )


def _kind(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"


def _own_code(fault: Fault) -> str | None:
    if fault is Fault.CALLER:
        return None
    return "context_length_exceeded" if fault is Fault.CONTEXT else f"upstream_{fault.value}"


def _code(told: Mapping[str, Any]) -> str | None:
    code = told.get("code")
    return str(code) if isinstance(code, str | int) and not isinstance(code, bool) else None


def _text(told: Mapping[str, Any], key: str) -> str | None:
    value = told.get(key)
    return value if isinstance(value, str) and value else None


def _retry_after(seconds: float) -> tuple[Header, ...]:
    return ((b"retry-after", b"%d" % max(1, ceil(seconds))),)


def _ascii(text: str) -> bytes:
    return "".join(c for c in text if "!" <= c <= "~").encode()[:128]

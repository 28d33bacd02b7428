"""From this package's errors to HTTP: the one place that knows status codes (R71)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import msgspec

from hybridge.core.errors import (
    RATE_LIMITED,
    Again,
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

NO_LOCAL_PATH = "privacy_no_local_path"
_BY_CODE = {
    "not_found": 404,
    "request_timeout": 408,
    "request_too_large": 413,
    "unsupported_encoding": 415,
}
"""Request errors that HTTP has a status of its own for; any other is a 400."""
_BY_CLASS: Mapping[type[HybridgeError], tuple[int, str, str]] = {
    PrivacyNoLocalPath: (422, "invalid_request_error", NO_LOCAL_PATH),
    BudgetExhausted: (429, "insufficient_quota", "budget_exhausted"),
    RateLimited: (429, "rate_limit_error", RATE_LIMITED),
    ModelError: (503, "server_error", "model_unavailable"),
    ConfigError: (500, "server_error", "misconfigured"),
}
"""Status, type and code of errors that are always shown the same way."""
_BY_FAULT = {
    Fault.CALLER: 400,
    Fault.CONTEXT: 400,
    Fault.UNABLE: 400,
    Fault.ABSENT: 502,
    Fault.CREDENTIALS: 502,
    Fault.LIMITED: 429,
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
    Fault.UNABLE: range(400, 500),
    Fault.ABSENT: (404,),
    Fault.LIMITED: (429,),
    Fault.BUSY: (429, 503, 529),
    Fault.SERVER: range(501, 600),
    Fault.TIMEOUT: (504,),
}
"""The upstream's statuses that the caller gets as they are (R9, R71). A 401 is never among them:
it speaks of the gateway's key, not of the caller's. Nor is a 500, which would say that it was the
gateway that broke."""
_OWN_CODES = {
    Fault.CALLER: None,
    Fault.CONTEXT: "context_length_exceeded",
    Fault.UNABLE: "unsupported_parameter",
    Fault.LIMITED: RATE_LIMITED,
}
"""The code where the upstream gives none; any other fault says `upstream_` and its name."""
_RETRIED = (408, 409, 429)
"""Statuses after which official SDKs ask again by themselves, as after any from 500."""
_NO_RETRY: Header = (b"x-should-retry", b"false")
"""Keeps them from it where asking again would be in vain."""


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
            return _of_unserved(error, redact)
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


def _of_unserved(error: NotServed, redact: Redact) -> Failure:
    status = 429 if error.code == RATE_LIMITED else 503
    closing = ((b"connection", b"close"),) if error.code == SHUTTING_DOWN else ()
    headers = _retry_after(error.retry_after_s) + closing
    return Failure(status, redact(str(error)), _kind(status), error.code, headers=headers)


def _of_backend(error: BackendError, redact: Redact) -> Failure:
    status, told = _status(error), error.body or {}
    if error.fault is Fault.CREDENTIALS:
        told = {"message": _refused_key(error)}  # the provider's words are about our key
    return Failure(
        status=status,
        message=redact(_text(told, "message") or str(error)),
        type=_text(told, "type") or _kind(status),
        code=_shown_code(error.fault, told),
        param=_text(told, "param") or ("messages" if error.fault is Fault.CONTEXT else None),
        headers=_headers(error, status),
    )


def _status(error: BackendError) -> int:
    """The upstream's own where it is the caller's business."""
    code = (error.body or {}).get("code")
    if error.fault is Fault.REFUSED and code == RATE_LIMITED:
        return 429
    if code == NO_LOCAL_PATH:
        return 422
    status = error.status
    kept = status in _KEPT.get(error.fault, ()) and status not in (401, 402, 403, 407)
    return status if status is not None and kept else _BY_FAULT[error.fault]


def _headers(error: BackendError, status: int) -> tuple[Header, ...]:
    headers: tuple[Header, ...] = ()
    if error.retry_after_s is not None or status in (429, 503):
        headers += _retry_after(error.retry_after_s or 1.0)
    if error.fault.again is Again.NEVER and (status >= 500 or status in _RETRIED):
        headers += (_NO_RETRY,)
    if error.upstream_id:
        headers += ((b"x-upstream-request-id", _ascii(error.upstream_id)),)
    return headers


def _refused_key(error: BackendError) -> str:
    number = f" ({error.status})" if error.status else ""
    return (
        f"{error.backend}: the provider refused the key or the account of this gateway{number}; "
        "that is for its operator to mend"
    )


def _kind(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"


def _shown_code(fault: Fault, told: Mapping[str, Any]) -> str | None:
    own = _OWN_CODES.get(fault, f"upstream_{fault.value}")
    return own if fault is Fault.CONTEXT else _code(told) or own


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

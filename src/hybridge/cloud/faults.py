"""Classifies what an upstream answered, once: by status and structure, by wording as a last resort.

What follows from a fault is not decided here but in `core.errors.FAULTS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from hybridge.cloud import wording
from hybridge.cloud.error_body import clean, error_body
from hybridge.cloud.retry_after import retry_after
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor

Inner = Mapping[str, Any]

_OVERFLOW = frozenset(
    {
        "context_length_exceeded",  # OpenAI
        "exceed_context_size_error",  # llama-server
        "string_above_max_length",  # OpenAI
        "model_max_prompt_tokens_exceeded",  # GitHub
        "1261",  # Zhipu
    }
)
"""Codes and types by which servers say that a prompt is too long."""
_OVERFLOW_PARAM = "input_tokens"
"""The parameter that vLLM blames for it."""
_NO_ACCOUNT = frozenset(
    {
        "insufficient_quota",  # OpenAI
        "billing_hard_limit_reached",
        "billing_error",  # Anthropic
        "enforced_spend_limit_reached",
        "Arrearage",  # DashScope
        "1113",  # Zhipu
    }
)
"""Codes and types by which servers say, under any status, that the operator has to pay."""
_UNABLE = frozenset({"unsupported_parameter", "unsupported_value"})
"""OpenAI's codes for what one model cannot do, though another may."""
_WORDED = (400, 413, 422)
"""Statuses under which wording may tell more than structure does."""
_BY_STATUS = {
    404: Fault.ABSENT,
    405: Fault.ABSENT,
    410: Fault.ABSENT,
    401: Fault.CREDENTIALS,
    402: Fault.CREDENTIALS,
    403: Fault.CREDENTIALS,
    408: Fault.TIMEOUT,
    504: Fault.TIMEOUT,
    429: Fault.LIMITED,
    529: Fault.BUSY,
}
_STATUS_OF_WORD = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error object inside a stream means, where it gives no number."""
_REQUEST_IDS = ("x-request-id", "request-id", "cf-ray")


def of_response(
    backend: str, status: int, headers: Mapping[str, str], body: bytes, redact: Redactor
) -> BackendError:
    """The error that a response with a failing status is."""
    inner = _numbered(error_body(body, redact))
    retry_after_s = retry_after(headers)
    fault = _fault(status, inner, retry_after_s)
    return BackendError(
        _message(backend, status, inner, headers),
        backend=backend,
        fault=fault,
        status=status,
        body=inner,
        retry_after_s=retry_after_s,
        upstream_id=next((headers[name] for name in _REQUEST_IDS if name in headers), None),
    )


def in_band(backend: str, inner: Inner, redact: Redactor) -> BackendError:
    """The error that an error object in the place of an answer is."""
    cleaned = _numbered(clean(inner, redact)) or {}
    status = _status_in(cleaned)
    fault = _fault(status, cleaned, None) if status else _by_name(cleaned) or Fault.PROTOCOL
    return BackendError(
        f"{backend}: {_said(cleaned) or 'an error in place of an answer'}",
        backend=backend,
        fault=fault,
        status=status,
        body=cleaned,
    )


def is_overflow(inner: Inner | None) -> bool:
    """Whether an error object says, by its structure, that the prompt does not fit the context."""
    if not inner:
        return False
    named = not _OVERFLOW.isdisjoint(_names(inner))
    return named or inner.get("param") == _OVERFLOW_PARAM or "n_ctx" in inner


def _fault(status: int, inner: Inner | None, retry_after_s: float | None) -> Fault:
    if inner and 400 <= status < 500 and (named := _by_name(inner)) is not None:
        return named
    if status in _WORDED:
        return _by_wording(_said(inner or {}))
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        waits = status == 503 and retry_after_s is not None
        return Fault.BUSY if waits else Fault.SERVER
    return Fault.CALLER if 400 <= status < 500 else Fault.PROTOCOL


def _by_name(inner: Inner) -> Fault | None:
    """By codes, types and parameters, whatever the status."""
    if is_overflow(inner):
        return Fault.CONTEXT
    names = _names(inner)
    if not _NO_ACCOUNT.isdisjoint(names):
        return Fault.CREDENTIALS
    return Fault.UNABLE if not _UNABLE.isdisjoint(names) else None


def _by_wording(message: str) -> Fault:
    if wording.met(wording.NOT_OVERFLOWS, message):
        return Fault.CALLER
    if wording.met(wording.OVERFLOWS, message):
        return Fault.CONTEXT
    return Fault.UNABLE if wording.met(wording.UNABLE, message) else Fault.CALLER


def _names(inner: Inner) -> frozenset[str]:
    details = inner.get("details")
    more = details.get("error_code") if isinstance(details, dict) else None
    words = (inner.get("code"), inner.get("type"), more)
    return frozenset(word for word in words if isinstance(word, str))


def _status_in(inner: Inner) -> int | None:
    code = inner.get("code")
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return code
    words = (inner.get("type"), inner.get("code"))
    known = (_STATUS_OF_WORD.get(word) for word in words if isinstance(word, str))
    return next((status for status in known if status is not None), None)


def _said(inner: Inner) -> str:
    message = inner.get("message")
    return message if isinstance(message, str) else ""


def _numbered(inner: dict[str, Any] | None) -> dict[str, Any] | None:
    """With the numbers in its message that llama-server gives beside it."""
    if not inner or "n_ctx" not in inner:
        return inner
    tokens = inner.get("n_prompt_tokens", "more")
    said = _said(inner) or "the prompt is too long"
    return inner | {"message": f"{said} ({tokens} tokens, the context is {inner['n_ctx']})"}


def _message(backend: str, status: int, inner: Inner | None, headers: Mapping[str, str]) -> str:
    if 300 <= status < 400:
        where = _host(headers.get("location", ""))
        to = f" to {where}" if where else ""
        return f"{backend} answered {status}: it redirects{to}, and a key follows no redirect"
    said = _said(inner or {})
    return f"{backend} answered {status}" + (f": {said}" if said else "")


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None

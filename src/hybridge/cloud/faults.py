"""Classifies what an upstream answered, once, by status and structure (never by prose)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

import msgspec

from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.wire import error_object

_OVERFLOW = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
)
"""Codes and types by which OpenAI and llama-server say that a prompt is too long."""
_OVERFLOW_PARAM = "input_tokens"
"""The parameter that vLLM blames for it."""
_CALLERS = frozenset({400, 404, 405, 409, 413, 415, 422})
_CREDENTIALS = frozenset({401, 402, 403})
_REQUEST_IDS = ("x-request-id", "request-id", "cf-ray")


def of_response(
    backend: str, status: int, headers: Mapping[str, str], body: bytes, redact: Redactor
) -> BackendError:
    """The error that a response with a failing status is."""
    inner = _error_body(body, redact)
    retry_after_s = retry_after(headers)
    said = inner.get("message") if inner else None
    return BackendError(
        f"{backend} answered {status}" + (f": {said}" if said else ""),
        backend=backend,
        fault=_fault(status, inner, retry_after_s),
        status=status,
        body=inner,
        retry_after_s=retry_after_s,
        upstream_id=next((headers[name] for name in _REQUEST_IDS if name in headers), None),
    )


def in_band(backend: str, inner: Mapping[str, Any], redact: Redactor) -> BackendError:
    """The error that an error object in the place of an answer is."""
    clean = _clean(inner, redact)
    code = inner.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    fault = _fault(status, clean, None) if status else Fault.PROTOCOL
    if is_overflow(clean):
        fault = Fault.CONTEXT
    return BackendError(
        f"{backend}: {clean.get('message') or 'an error in place of an answer'}",
        backend=backend,
        fault=fault,
        status=status,
        body=clean,
    )


def is_overflow(inner: Mapping[str, Any] | None) -> bool:
    """Whether an error object says that the prompt does not fit the context."""
    if not inner:
        return False
    named = [word for word in (inner.get("code"), inner.get("type")) if isinstance(word, str)]
    by_name = not _OVERFLOW.isdisjoint(named)
    return by_name or inner.get("param") == _OVERFLOW_PARAM or "n_ctx" in inner


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date, RFC 9110)."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _number(value)
    return _until(value) if seconds is None else seconds


def _number(value: str | None) -> float | None:
    """At least 0; None for what is no finite number."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if isfinite(number) else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _fault(status: int, inner: Mapping[str, Any] | None, retry_after_s: float | None) -> Fault:
    if status in _CALLERS:
        return Fault.CONTEXT if is_overflow(inner) else Fault.CALLER
    if status in _CREDENTIALS:
        return Fault.CREDENTIALS
    if status == 429 or (status == 503 and retry_after_s is not None):
        return Fault.BUSY
    if status in (408, 504):
        return Fault.TIMEOUT
    if status >= 500:
        return Fault.SERVER
    return Fault.CALLER if 400 <= status < 500 else Fault.PROTOCOL


def _error_body(body: bytes, redact: Redactor) -> Mapping[str, Any] | None:
    try:
        said = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None  # an HTML page, say: nothing of it is shown to anybody
    if isinstance(said, list) and said:
        said = said[0]
    if not isinstance(said, dict):
        return None
    inner = said.get("error", said if "message" in said else None)
    return None if inner is None else _clean(error_object(inner), redact)


def _clean(inner: Mapping[str, Any], redact: Redactor) -> dict[str, Any]:
    """The object without secrets, however deep: some providers pass on another's error inside."""
    return {key: _redacted(value, redact) for key, value in inner.items()}


def _redacted(value: Any, redact: Redactor) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return _clean(value, redact)
    return [_redacted(item, redact) for item in value] if isinstance(value, list) else value

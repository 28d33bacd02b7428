"""The error object in a response's body, whatever the server wraps it in, without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hybridge.core.redaction import Redactor
from hybridge.core.wire import error_object

LONGEST = 1 << 20
"""Bytes. What is longer is no error object, and would take the event loop too long to look
through."""
DEEPEST = 32
"""Levels of an error object; what lies deeper is left out."""


def error_body(body: bytes, redact: Redactor) -> dict[str, Any] | None:
    """The inner object, with `message`; None for what is none, an HTML page say.

    OpenAI's `{"error": {…}}`, the same in a list (Gemini), the bare object (vLLM, Mistral), and
    FastAPI's `{"detail": …}` are all understood.
    """
    if len(body) > LONGEST:
        return None
    try:
        said = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(said, list) and said:
        said = said[0]
    inner = _inner(said) if isinstance(said, dict) else None
    return None if inner is None else clean(inner, redact)


def clean(inner: Mapping[str, Any], redact: Redactor, deep: int = DEEPEST) -> dict[str, Any]:
    """The object without secrets: some providers pass on another's error inside."""
    return {key: _redacted(value, redact, deep - 1) for key, value in inner.items()}


def _inner(said: dict[str, Any]) -> dict[str, Any] | None:
    if "error" in said:
        error = said["error"]
        return None if error is None else error_object(error)
    if "message" in said:
        message = said["message"]
        told = _detail(message.get("detail")) if isinstance(message, dict) else None
        return {**said, **told} if told else said
    return _detail(said.get("detail"))


def _detail(detail: Any) -> dict[str, Any] | None:
    """FastAPI's: a sentence, or a list of what is wrong with which field."""
    if isinstance(detail, str):
        return {"message": detail}
    if not isinstance(detail, list) or not detail or not isinstance(detail[0], dict):
        return None
    first = detail[0]
    place = first.get("loc")
    parts = place if isinstance(place, list) else ()
    path = [part for part in parts if isinstance(part, str) and part != "body"]
    what = str(first.get("msg") or first.get("type") or "not accepted")
    told = {"message": f"{'.'.join(path)}: {what}" if path else what}
    return told | ({"param": path[-1]} if path else {})


def _redacted(value: Any, redact: Redactor, deep: int) -> Any:
    if isinstance(value, str):
        return redact(value)
    if not isinstance(value, dict | list):
        return value
    if not deep:
        return None
    if isinstance(value, dict):
        return clean(value, redact, deep)
    return [_redacted(item, redact, deep - 1) for item in value]

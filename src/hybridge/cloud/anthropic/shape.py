"""What is read of the API's answers, and the types on which the rest of this package relies.

An answer is checked against these, and then read as the plain object that it is: thoughts go back
as they came, and what nobody here knows is passed over.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.core import wire


class _Details(msgspec.Struct):
    thinking_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: _Details | None = None


class _StopDetails(msgspec.Struct):
    explanation: str | None = None


class _Block(msgspec.Struct):
    type: str
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None


class _Delta(msgspec.Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


class _Head(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


class _Message(_Head, kw_only=True):
    content: list[_Block]
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


class _Started(msgspec.Struct):
    message: _Head


class _BlockStarted(msgspec.Struct):
    index: int
    content_block: _Block


class _BlockWentOn(msgspec.Struct):
    index: int
    delta: _Delta


class _BlockEnded(msgspec.Struct):
    index: int


class _Ending(msgspec.Struct):
    delta: _Delta
    usage: _Usage | None = None


_EVENTS: dict[Any, type[msgspec.Struct]] = {
    "message_start": _Started,
    "content_block_start": _BlockStarted,
    "content_block_delta": _BlockWentOn,
    "content_block_stop": _BlockEnded,
    "message_delta": _Ending,
}


def event(data: bytes) -> dict[str, Any]:
    """One event of a stream. Raises `wire.Malformed` where one of a known type is not as it should
    be, `wire.ErrorInBand` for an error."""
    told = wire.parse(data)
    kind = told.get("type")
    if kind == "error":
        raise wire.ErrorInBand(wire.error_object(told.get("error") or told))
    shape = _EVENTS.get(kind) if isinstance(kind, str) else None
    return told if shape is None else _checked(told, shape)


def message(data: bytes) -> dict[str, Any]:
    """A whole answer. Raises as `event` does."""
    told = wire.parse(data)
    if told.get("type") == "error" or told.get("error"):
        raise wire.ErrorInBand(wire.error_object(told.get("error") or told))
    return _checked(told, _Message)


def _checked(told: dict[str, Any], shape: type[msgspec.Struct]) -> dict[str, Any]:
    try:
        msgspec.convert(told, shape)
    except msgspec.ValidationError as error:
        raise wire.Malformed(str(error)) from error
    return told

"""Reads the parts of an answer that other vocabularies tell in other words."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.response import Chunk, Completion


class CallPiece(Struct, frozen=True):
    """A fragment of a tool call, or the whole of one."""

    index: int
    id: str
    """Empty in every fragment but the first."""
    name: str
    """Empty in every fragment but the first."""
    arguments: str
    """JSON, or the next piece of it."""


class Piece(Struct, frozen=True):
    """What choice 0 says in one chunk, or in the whole answer."""

    text: str = ""
    reasoning: str = ""
    """What a reasoning model thought before it spoke."""
    refusal: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish_reason: str | None = None


class _Function(Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Said(Struct):
    reasoning_content: Any = None
    """DeepSeek's, vLLM's and llama.cpp's name for it."""
    reasoning: Any = None
    """OpenRouter's."""
    refusal: Any = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    index: int = 0
    delta: _Said | None = None
    message: _Said | None = None


class _Answer(Struct):
    choices: list[_Choice] | None = None


_decode = msgspec.json.Decoder(_Answer).decode
_RARE = (b'"tool_calls"', b'"reasoning', b'"refusal"')
_NOTHING = _Said()


def read(event: Chunk | Completion) -> Piece:
    """What a chunk adds to the answer, or all that a whole one says."""
    if not any(mark in event.wire for mark in _RARE):
        return Piece(event.text, finish_reason=event.finish_reason)
    choices = _decode(event.wire).choices or []
    choice = next((choice for choice in choices if choice.index == 0), None)
    said = (choice and (choice.delta or choice.message)) or _NOTHING
    return Piece(
        text=event.text,
        reasoning=_text(said.reasoning_content) or _text(said.reasoning),
        refusal=_text(said.refusal),
        calls=tuple(_call(position, call) for position, call in enumerate(said.tool_calls or ())),
        finish_reason=event.finish_reason,
    )


def _call(position: int, call: _Call) -> CallPiece:
    function = call.function or _Function()
    return CallPiece(
        index=position if call.index is None else call.index,
        id=call.id or "",
        name=function.name or "",
        arguments=function.arguments or "",
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

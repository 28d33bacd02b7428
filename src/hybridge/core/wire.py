"""Reads the chat-completions wire format: as much of it as this house looks at, and no more.

The bytes themselves are passed on as they came; nothing here re-encodes what it only reads.
Format: https://platform.openai.com/docs/api-reference/chat (object and streaming object).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from hybridge.core.response import Chunk, Completion, Event, Token, Usage

Read = TypeVar("Read")
Said = TypeVar("Said", bound=Event)


class Malformed(ValueError):
    """Bytes that are not the JSON object they should be."""


class ErrorInBand(Malformed):
    """A top-level error object where an answer should be. `body` is the inner object."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(str(body.get("message") or "an error object in place of an answer"))
        self.body = body


class _Part(msgspec.Struct):
    text: str | None = None


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None


class _ToolCall(msgspec.Struct):
    """Nothing of it is used here; its types are what `cloud.tool_calls` may rely on."""

    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Text(msgspec.Struct):
    content: str | list[_Part] | None = None
    tool_calls: list[_ToolCall] | None = None


class _Token(msgspec.Struct):
    token: str = ""
    logprob: float | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


class _Choice(msgspec.Struct):
    index: int = 0
    delta: _Text | None = None
    message: _Text | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None
    cache_creation_tokens: int | None = None
    """LiteLLM's and our own name for what Anthropic charges more for."""


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    cached_tokens: int | None = None
    """Moonshot's place for it."""
    prompt_cache_hit_tokens: int | None = None
    """DeepSeek's place for it."""


class _Answer(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    model: str | None = None
    error: Any = None


_answer = msgspec.json.Decoder(_Answer)
_object = msgspec.json.Decoder(dict[str, Any])
_SPACE = b" \t\r\n"
_NOTHING = _Text()


def chunk(wire: bytes, *, more: bool = False) -> Chunk:
    """Reads one `chat.completion.chunk`, choice 0 of it. `more`: see `Chunk.more`.

    Raises `ErrorInBand` for an error object and `Malformed` for anything else that is no chunk.
    """
    answer = _read(wire)
    choice = _first(answer.choices)
    if choice is None:
        if answer.choices is None and answer.usage is None:
            _refuse_bare_error(wire)
        return Chunk(
            wire,
            usage=_usage(answer.usage),
            model=answer.model or "",
            has_choices=bool(answer.choices),
            more=more,
        )
    said = choice.delta or choice.message or _NOTHING
    return Chunk(
        wire=wire,
        text=_text(said),
        tokens=_tokens(choice.logprobs),
        finish_reason=choice.finish_reason,
        usage=_usage(answer.usage),
        model=answer.model or "",
        has_tool_calls=bool(said.tool_calls),
        more=more,
    )


def completion(wire: bytes) -> Completion:
    """Reads one `chat.completion`, choice 0 of it.

    Raises `ErrorInBand` for an error object and `Malformed` for anything else without a message.
    """
    answer = _read(wire)
    choice = _first(answer.choices)
    if choice is None or choice.message is None:
        _refuse_bare_error(wire)
        raise Malformed("an answer without a message")
    return Completion(
        wire=wire,
        text=_text(choice.message),
        tokens=_tokens(choice.logprobs),
        finish_reason=choice.finish_reason,
        usage=_usage(answer.usage),
        model=answer.model or "",
        has_tool_calls=bool(choice.message.tool_calls),
    )


def parse(wire: bytes) -> dict[str, Any]:
    """The whole JSON object, for the few who rewrite it. Raises `Malformed`."""
    return _decode(_object, wire)


def splice(wire: bytes, key: str, value: bytes) -> bytes:
    """The JSON object `wire` with one more member at its end, without re-encoding the others.

    `value` is JSON. Raises `Malformed` when `wire` does not end like an object.
    """
    whole = wire.rstrip(_SPACE)
    if not whole.endswith(b"}"):
        raise Malformed("not a JSON object")
    head = whole[:-1].rstrip(_SPACE)
    if not head:
        raise Malformed("not a JSON object")
    comma = b"" if head.endswith(b"{") else b","  # only an empty object can end in its own brace
    return b"".join((head, comma, msgspec.json.encode(key), b":", value, wire[len(whole) - 1 :]))


def hide_logprobs(event: Said) -> Said:
    """The event with log-probabilities out of its wire; its `tokens` stay, for the judge."""
    if b'"logprobs"' not in event.wire:
        return event
    body = parse(event.wire)
    for choice in body.get("choices") or ():
        choice.pop("logprobs", None)
    return replace(event, wire=msgspec.json.encode(body))


def _read(wire: bytes) -> _Answer:
    answer = _decode(_answer, wire)
    if answer.error:
        raise ErrorInBand(error_object(answer.error))
    return answer


def _refuse_bare_error(wire: bytes) -> None:
    """Raises `ErrorInBand` for an error object that stands by itself, as vLLM sends it."""
    body = parse(wire)
    if body.get("object") == "error" or ("message" in body and ("code" in body or "type" in body)):
        raise ErrorInBand(body)


def error_object(inner: Any) -> dict[str, Any]:
    """The value of an `error` member as an object; a bare string becomes its message."""
    return inner if isinstance(inner, dict) else {"message": str(inner)}


def _decode(decoder: msgspec.json.Decoder[Read], wire: bytes) -> Read:
    try:
        return decoder.decode(wire)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(str(error)) from error


def _first(choices: list[_Choice] | None) -> _Choice | None:
    if not choices:
        return None
    if choices[0].index == 0:
        return choices[0]
    return next((choice for choice in choices if choice.index == 0), None)


def _text(said: _Text) -> str:
    if isinstance(said.content, list):
        return "".join(part.text or "" for part in said.content)
    return said.content or ""


def _tokens(logprobs: _Logprobs | None) -> tuple[Token, ...]:
    if logprobs is None or not logprobs.content:
        return ()
    return tuple(Token(t.token, t.logprob) for t in logprobs.content if t.logprob is not None)


def _usage(usage: _Usage | None) -> Usage | None:
    if usage is None or (usage.prompt_tokens is None and usage.completion_tokens is None):
        return None
    details = usage.prompt_tokens_details
    cached = (details and details.cached_tokens) or usage.cached_tokens
    return Usage(
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        cached_tokens=cached or usage.prompt_cache_hit_tokens or 0,
        cache_written_tokens=(details and details.cache_creation_tokens) or 0,
    )

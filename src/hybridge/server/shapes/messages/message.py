"""The message object: a whole answer, or the empty one that a stream begins with."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.core.response import Usage
from hybridge.server.shapes.messages.stop import Stop
from hybridge.server.shapes.pieces import CallPiece, Piece

UNREADABLE = "INVALID_JSON"
"""The member under which arguments travel that are no JSON object, such as those that a limit cut
short: an input has to be an object, and this is Anthropic's own way to make one of them (source:
its guide to fine-grained tool streaming)."""
_OPEN = {"stop_reason": None, "stop_sequence": None}


def message(
    name: str, model: str, content: list[dict[str, Any]], stop: Stop | None, usage: Usage
) -> dict[str, Any]:
    """`name` is the message's id; without `stop` it has only begun."""
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        **(_OPEN if stop is None else stop.told),
        "usage": usage_object(usage),
    }


def usage_object(usage: Usage) -> dict[str, Any]:
    """Tokens as Anthropic counts them: those from the cache are not among the `input_tokens`.

    Usage that was counted here says so.
    """
    told = {
        "input_tokens": max(0, usage.prompt_tokens - usage.cached_tokens),
        "output_tokens": usage.completion_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
    }
    return told | {"estimated": True} if usage.estimated else told


def content_of(piece: Piece, salt: str, *, thoughts: bool) -> list[dict[str, Any]]:
    """The blocks of a whole answer. `thoughts`: whether they are shown; `salt` makes ids of calls
    that have none."""
    blocks: list[dict[str, Any]] = []
    if piece.reasoning and thoughts:
        blocks.append({"type": "thinking", "thinking": piece.reasoning, "signature": ""})
    if piece.text or piece.refusal:
        blocks.append({"type": "text", "text": piece.text + piece.refusal})
    return blocks + [_tool_use(call, i, salt) for i, call in enumerate(piece.calls)]


def call_id(name: str, position: int, salt: str) -> str:
    """The id of a call, made up where the backend gave none."""
    return name or f"toolu_{salt}_{position}"


def read_input(arguments: str) -> dict[str, Any]:
    """The arguments of a call as an object; no arguments are an empty one."""
    try:
        read = msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {UNREADABLE: arguments}
    if read is None:
        return {}
    return read if isinstance(read, dict) else {UNREADABLE: arguments}


def _tool_use(call: CallPiece, position: int, salt: str) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call_id(call.id, position, salt),
        "name": call.name,
        "input": read_input(call.arguments),
    }

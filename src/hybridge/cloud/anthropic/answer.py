"""A whole answer of the API as a `chat.completion`."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.cloud.anthropic import shape
from hybridge.cloud.anthropic.meaning import finish_reason, is_answer, refusal, usage
from hybridge.cloud.anthropic.turns import THOUGHTS
from hybridge.core import wire
from hybridge.core.response import Completion


def completion(body: bytes, *, created: int, schema_as_tool: bool) -> Completion:
    """Raises `wire.ErrorInBand` for an error in its place, `wire.Malformed` for what is neither."""
    told = shape.message(body)
    message = _message(told["content"], schema_as_tool=schema_as_tool) | refusal(told)
    calls = len(message.get("tool_calls") or ())
    ending = finish_reason(told.get("stop_reason"), calls=calls)
    whole = {
        "id": told.get("id"),
        "object": "chat.completion",
        "created": created,
        "model": told.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": ending}],
        "usage": usage(told.get("usage") or {}),
    }
    return wire.completion(msgspec.json.encode(whole))


def _message(content: list[dict[str, Any]], *, schema_as_tool: bool) -> dict[str, Any]:
    said, thoughts, calls = [], [], []
    for block in content:
        match block.get("type"):
            case "text":
                said.append(block.get("text") or "")
            case "thinking" | "redacted_thinking":
                thoughts.append(block)
            case "tool_use" if is_answer(block, schema_as_tool=schema_as_tool):
                said.append(_json(block))
            case "tool_use":
                calls.append(_call(block))
    message: dict[str, Any] = {"role": "assistant", "content": "".join(said) if said else None}
    if thoughts:
        message["reasoning_content"] = "".join(t.get("thinking") or "" for t in thoughts)
        message[THOUGHTS] = thoughts
    return message | ({"tool_calls": calls} if calls else {})


def _call(block: dict[str, Any]) -> dict[str, Any]:
    function = {"name": block.get("name"), "arguments": _json(block)}
    return {"id": block.get("id"), "type": "function", "function": function}


def _json(block: dict[str, Any]) -> str:
    return msgspec.json.encode(block.get("input") or {}).decode()

"""A conversation as the API wants it: the system's words apart, roles that take turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from hybridge.cloud.anthropic.content import Block, blocks
from hybridge.cloud.dialect import NoWord

THOUGHTS = "thinking_blocks"
"""The member of an assistant's message that carries signed thoughts there and back."""
Turn = dict[str, Any]


def turns(messages: Sequence[Any]) -> tuple[list[Block], list[Turn]]:
    """The system's blocks and the turns.

    System and developer messages are lifted out from wherever they stand, as Anthropic's own
    layer for OpenAI's format does it. What a role says in a row is one turn. Raises `NoWord`.
    """
    system: list[Block] = []
    said: list[Turn] = []
    for message in messages:
        role = message.get("role")
        if role in ("system", "developer"):
            system += blocks(message.get("content"))
        else:
            speaker, told = _told(role, message)
            _add(said, speaker, told)
    if not said:  # nothing but a system message is a question to OpenAI
        return [], [{"role": "user", "content": system}] if system else []
    _trim(said[-1])
    return system, said


def _told(role: Any, message: Any) -> tuple[str, list[Block]]:
    match role:
        case "user":
            return "user", blocks(message.get("content"))
        case "assistant":
            return "assistant", _answered(message)
        case "tool":
            return "user", [_result(message)]
        case _:
            raise NoWord("messages", f"the role {role!r}")


def _add(said: list[Turn], role: str, told: list[Block]) -> None:
    if said and said[-1]["role"] == role:
        said[-1]["content"] += told
    elif told:
        said.append({"role": role, "content": told})


def _answered(message: Any) -> list[Block]:
    """Thoughts come first, where the caller kept them with their signatures."""
    thoughts = message.get(THOUGHTS) or []
    if not isinstance(thoughts, list):
        raise NoWord("messages", f"`{THOUGHTS}` but for a list")
    text = [*blocks(message.get("content")), *blocks(message.get("refusal"))]
    return [*thoughts, *text, *map(_use, message.get("tool_calls") or ())]


def _use(call: Any) -> Block:
    function = call.get("function")
    if not isinstance(function, dict):
        raise NoWord("messages", f"tool calls of type {call.get('type')!r}")
    return {
        "type": "tool_use",
        "id": call.get("id"),
        "name": function.get("name"),
        "input": _input(function.get("arguments")),
    }


def _input(arguments: Any) -> dict[str, Any]:
    """An object; arguments that are none, as a model may once have written, are kept in one."""
    if isinstance(arguments, dict):
        return arguments
    try:
        told = msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, RecursionError, TypeError):
        told = None
    return told if isinstance(told, dict) else {"arguments": arguments}


def _result(message: Any) -> Block:
    content = message.get("content")
    told = content if isinstance(content, str) else blocks(content)
    block: Block = {"type": "tool_result", "tool_use_id": message.get("tool_call_id")}
    return block | {"content": told} if told else block


def _trim(last: Turn) -> None:
    """An answer that is to be gone on with may not end in white space."""
    block = last["content"][-1] if last["role"] == "assistant" else {}
    if block.get("type") == "text":
        last["content"][-1] = block | {"text": block["text"].rstrip()}

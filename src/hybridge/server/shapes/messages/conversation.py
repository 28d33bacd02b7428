"""The turns of a conversation, told as chat messages.

Tool results become `tool` messages, straight after the assistant's turn that called; what else the
user said then follows. Neighbours of one role are one turn, as Anthropic's own API takes them. A
last turn of the assistant's (a prefill) stays what it is; whether it is continued is the model's
matter. Thoughts of earlier turns are left out: the chat vocabulary has no place for them, and they
are signed for the model that had them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import is_object, one_of, wrong
from hybridge.server.shapes.messages.blocks import (
    READABLE,
    Block,
    Part,
    content,
    parts,
    read_blocks,
)
from hybridge.server.shapes.messages.fields import at

Told = dict[str, Any]

_KINDS: Mapping[str, tuple[str, ...]] = {
    "user": (*READABLE, "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
    "system": ("text",),
}
"""The types of blocks that each role may say."""
_NEXT = "The result is in the next message."
"""What a tool says whose result is nothing but pictures."""


def read_system(said: Any) -> list[Told]:
    """The system prompt as a message; none where nothing is said in it."""
    if said is None:
        return []
    told = _system(read_blocks(said, "system", ("text",)))
    return [message for message in told if message["content"]]


def read_turns(said: Sequence[Mapping[str, Any]] | None) -> list[Told]:
    """The turns as messages. Raises `RequestError` that names the place."""
    if not said:
        raise wrong("messages", "an array of at least one message", said)
    turns = [_turn(turn, at("messages", index)) for index, turn in enumerate(said)]
    told: list[Told] = []
    for role, neighbours in groupby(turns, key=lambda turn: turn[0]):
        told += _TELL[role]([block for _, blocks in neighbours for block in blocks])
    return told


def _turn(said: Mapping[str, Any], where: str) -> tuple[str, list[Block]]:
    role = said.get("role")
    if not isinstance(role, str) or role not in _KINDS:
        raise wrong(at(where, "role"), one_of(*_KINDS).said, role)
    only(said, ("role", "content"), where)
    blocks = read_blocks(said.get("content"), at(where, "content"), _KINDS[role])
    if not blocks and role != "assistant":
        raise wrong(at(where, "content"), "a string or at least one block", said["content"])
    return role, blocks


def _system(blocks: Sequence[Block]) -> list[Told]:
    return [{"role": "system", "content": "\n".join(block.text("text") for block in blocks)}]


def _user(blocks: Sequence[Block]) -> list[Told]:
    told: list[Told] = []
    rest: list[Part] = []
    for block in blocks:
        if block.kind == "tool_result":
            message, shown = _result(block)
            told.append(message)
            rest += shown
    rest += [part for block in blocks if block.kind != "tool_result" for part in parts(block)]
    return [*told, {"role": "user", "content": content(rest)}] if rest else told


def _result(block: Block) -> tuple[Told, list[Part]]:
    """The `tool` message, and what only a user's turn can hold of it: pictures and files."""
    name, said, failed = block.name("tool_use_id"), block.said.get("content"), _failed(block)
    blocks = [] if said is None else read_blocks(said, at(block.where, "content"), READABLE)
    told = [part for inner in blocks for part in parts(inner)]
    shown = [part for part in told if part["type"] != "text"]
    text = "\n".join(part["text"] for part in told if part["type"] == "text")
    if shown:
        text = text or _NEXT
        shown = [{"type": "text", "text": f"Result of the tool call {name}:"}, *shown]
    if failed:  # the chat vocabulary has no other place to say so
        text = f"Error: {text}" if text else "Error"
    return {"role": "tool", "tool_call_id": name, "content": text}, shown


def _failed(block: Block) -> bool:
    failed = block.said.get("is_error") or False
    if not isinstance(failed, bool):
        raise wrong(at(block.where, "is_error"), "true or false", failed)
    return failed


def _assistant(blocks: Sequence[Block]) -> list[Told]:
    text = "\n".join(block.text("text") for block in blocks if block.kind == "text")
    calls = [_call(block) for block in blocks if block.kind == "tool_use"]
    if not calls:
        return [{"role": "assistant", "content": text}]
    return [{"role": "assistant", "content": text or None, "tool_calls": calls}]


def _call(block: Block) -> Told:
    caller = block.said.get("caller")
    if caller is not None and not (is_object(caller) and caller.get("type") == "direct"):
        raise unsupported(at(block.where, "caller"), "must be direct: no tool is run here")
    written = msgspec.json.encode(block.object("input")).decode()
    return {
        "id": block.name("id"),
        "type": "function",
        "function": {"name": block.name("name"), "arguments": written},
    }


_TELL: Mapping[str, Callable[[Sequence[Block]], list[Told]]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
}

"""Tells a model what placeholders are, in as few words as do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Place = Literal["nowhere", "system", "last_turn"]
"""Where the note goes: into the first system turn (made where there is none), or the end of the
last turn of the user."""
NOTE = "Codes such as {example} stand for private data: copy them exactly wherever you use them."
_SYSTEM = ("system", "developer")


def noted(body: Mapping[str, Any], example: str, place: Place = "system") -> dict[str, Any]:
    """The body with the note in it; a body without turns is as it was."""
    messages = body.get("messages")
    if place == "nowhere" or not isinstance(messages, list):
        return dict(body)
    note = NOTE.format(example=example)
    turns = _in_system(messages, note) if place == "system" else _in_last(messages, note)
    return {**body, "messages": turns}


def _in_system(messages: Sequence[Any], note: str) -> list[Any]:
    first = messages[0] if messages else None
    if isinstance(first, dict) and first.get("role") in _SYSTEM:
        return [_with(first, note), *messages[1:]]
    return [{"role": "system", "content": note}, *messages]


def _in_last(messages: Sequence[Any], note: str) -> list[Any]:
    turns = list(messages)
    for index in reversed(range(len(turns))):
        if isinstance(turns[index], dict) and turns[index].get("role") == "user":
            turns[index] = _with(turns[index], note)
            break
    return turns


def _with(turn: Mapping[str, Any], note: str) -> dict[str, Any]:
    content = turn.get("content")
    if isinstance(content, list):
        return {**turn, "content": [*content, {"type": "text", "text": note}]}
    return {**turn, "content": f"{content}\n\n{note}" if content else note}

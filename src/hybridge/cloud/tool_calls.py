"""Tool calls as strict clients need them: an index and an id of their own, and the right ending.

Some servers give every call of a stream index 0, or no id, or end with `stop` after calling a tool.
What is right already passes untouched, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hybridge.core import wire
from hybridge.core.response import Chunk, Completion

_MARK = b'"tool_calls"'


@dataclass(slots=True)
class _Call:
    """One tool call, as far as it has come."""

    index: int
    told: Any
    """The index that the upstream gives it."""
    id: str
    named: bool
    arguments: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether its arguments are JSON by now; none at all are complete too."""
        return _is_json("".join(self.arguments) or "{}")


class ToolCalls:
    """Mends the tool calls of one stream, chunk by chunk."""

    def __init__(self, salt: str) -> None:
        """`salt` makes ids unique that the upstream left out; the request's id will do."""
        self._salt = salt
        self._calls: dict[int, list[_Call]] = {}
        """By the index of the choice they belong to, in order."""

    def mend(self, chunk: Chunk) -> Chunk:
        """The chunk, with its wire rewritten only where something was wrong. Raises `Malformed`."""
        if not self._calls and _MARK not in chunk.wire:
            return chunk
        body, changed = wire.parse(chunk.wire), False
        for choice in body.get("choices") or ():
            calls = self._calls.setdefault(choice.get("index", 0), [])
            for piece in (choice.get("delta") or {}).get("tool_calls") or ():
                changed |= self._mend_piece(calls, piece)
            changed |= _mend_ending(choice, (call.complete for call in calls))
        return wire.chunk(msgspec.json.encode(body), more=chunk.more) if changed else chunk

    def _mend_piece(self, calls: list[_Call], piece: dict[str, Any]) -> bool:
        before = (piece.get("index"), piece.get("id"))
        function = piece.get("function") or {}
        call = _continued(calls, piece)
        if call is None:
            call = self._begin(calls, piece)
            piece |= {"index": call.index, "id": call.id}
        else:
            piece["index"] = call.index
            if function.pop("name", None) is not None:
                before = (None, None)  # told twice: clients would glue the two together
        unquoted = _quote_arguments(function)
        call.arguments.append(function.get("arguments") or "")
        return unquoted or before != (piece["index"], piece.get("id"))

    def _begin(self, calls: list[_Call], piece: dict[str, Any]) -> _Call:
        index = len(calls)
        name = piece.get("id") or f"call_{self._salt}_{index}"
        named = bool((piece.get("function") or {}).get("name"))
        call = _Call(index, piece.get("index"), _unused(name, calls), named)
        calls.append(call)
        return call


def mend(answer: Completion, salt: str) -> Completion:
    """The whole answer with unique ids and the right finish reason. Raises `Malformed`."""
    if not answer.has_tool_calls and _MARK not in answer.wire:
        return answer
    body, changed = wire.parse(answer.wire), False
    for choice in body.get("choices") or ():
        told = (choice.get("message") or {}).get("tool_calls") or []
        seen: set[str] = set()
        for index, call in enumerate(told):
            if not call.get("id") or call["id"] in seen:
                call["id"], changed = f"call_{salt}_{index}", True
            seen.add(call["id"])
            changed |= _quote_arguments(call.get("function") or {})
        changed |= _mend_ending(choice, [_is_complete(call) for call in told])
    return wire.completion(msgspec.json.encode(body)) if changed else answer


def _continued(calls: list[_Call], piece: dict[str, Any]) -> _Call | None:
    """The call that a fragment belongs to; None when it begins another."""
    told, name = piece.get("index"), piece.get("id")
    same = [call for call in calls if told is None or call.told == told]
    if name:
        return next((call for call in reversed(same) if call.id == name), None)
    if not same:
        return None
    last = same[-1]
    starts = bool((piece.get("function") or {}).get("name")) and last.named
    return None if starts and last.complete else last


def _quote_arguments(function: dict[str, Any]) -> bool:
    """Whether the arguments were an object, and had to become the string that clients parse."""
    arguments = function.get("arguments")
    if arguments is None or isinstance(arguments, str):
        return False
    function["arguments"] = msgspec.json.encode(arguments).decode()
    return True


def _mend_ending(choice: dict[str, Any], complete: Iterable[bool]) -> bool:
    """Whether `stop` had to become `tool_calls`, or `length` where a call was cut short.

    `complete`: of each call; read at the end alone, for it costs as much as the call is long.
    """
    if choice.get("finish_reason") != "stop":
        return False
    calls = list(complete)
    if not calls:
        return False
    choice["finish_reason"] = "tool_calls" if all(calls) else "length"
    return True


def _unused(name: str, calls: list[_Call]) -> str:
    taken = {call.id for call in calls}
    return name if name not in taken else f"{name}_{len(calls)}"


def _is_complete(call: dict[str, Any]) -> bool:
    return _is_json((call.get("function") or {}).get("arguments") or "{}")


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True

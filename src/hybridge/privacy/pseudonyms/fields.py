"""Puts values back into the members of one choice: its text, its thoughts, its tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hybridge.privacy.pseudonyms.tail import Kind, Known, Tail

Path = tuple[str | int, ...]
"""Where a string stands in the message, or in a delta of it."""

_AS_IS = frozenset(
    {
        *("data", "finish_reason", "format", "id", "index", "name", "object", "role", "signature"),
        *("thinking_blocks", "thought_signature", "type"),
    }
)
"""Words of the protocol, and what has to come back to the upstream as it was signed."""
_DEEPEST = 16
_THOUGHTS, _CALLS = ("reasoning", "reasoning_content", "thinking"), ("function_call", "tool_calls")


class Fields:
    """Remembers what each member of a choice holds back."""

    def __init__(self, known: Known, content: Kind) -> None:
        """`content`: what the answer's text is."""
        self._known = known
        self._content = content
        self._tails: dict[Path, Tail] = {}

    def feed(self, said: Mapping[str, Any], *, last: bool) -> dict[str, Any]:
        """The message or delta with its values. Thoughts are over once text comes, and text once a
        tool is called. `last`: whether this is all."""
        order = max((_order(path) for path, text in _strings(said) if text), default=0)
        return {
            key: self._restored(value, (key,), last or _order((key,)) < order)
            for key, value in said.items()
        }

    def overdue(self, said: Mapping[str, Any], *, last: bool) -> dict[str, Any]:
        """A delta of what is held and must come before `said`, which does not go on with it."""
        going_on = {path: text for path, text in _strings(said) if text}
        order = max(map(_order, going_on), default=0)
        rest: dict[str, Any] = {}
        for path, tail in self._tails.items():
            if tail.holds and path not in going_on and (last or _order(path) < order):
                _put(rest, path, tail.feed("", last=True))
        return rest

    def _restored(self, value: Any, path: Path, last: bool) -> Any:
        if path[-1] in _AS_IS or len(path) > _DEEPEST:
            return value
        if isinstance(value, str):
            return self._tail(path).feed(value, last=last)
        if isinstance(value, dict):
            return {key: self._restored(item, (*path, key), last) for key, item in value.items()}
        if isinstance(value, list):
            at = list(_places(value, path))
            whole = last or not _goes_on(path)
            return [
                self._restored(item, place, whole) for item, place in zip(value, at, strict=True)
            ]
        return value

    def _tail(self, path: Path) -> Tail:
        tail = self._tails.get(path)
        if tail is None:
            tail = self._tails[path] = Tail(self._known, self._kind(path))
        return tail

    def _kind(self, path: Path) -> Kind:
        if path[-1] == "arguments":
            return "json"
        return self._content if path[0] == "content" else "text"


def _strings(said: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    stack: list[tuple[Path, Any]] = [((key,), value) for key, value in said.items()]
    while stack:
        path, value = stack.pop()
        if path[-1] in _AS_IS or len(path) > _DEEPEST:
            continue
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            stack += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            stack += zip(_places(value, path), value, strict=True)


def _places(items: list[Any], path: Path) -> Iterator[Path]:
    """Tool calls go on under their index, and text in parts goes on with the part after it; other
    lists have complete items."""
    for position, item in enumerate(items):
        if path == ("tool_calls",):
            index = item.get("index") if isinstance(item, dict) else None
            yield (*path, position if index is None else index)
        else:
            yield path if path == ("content",) else (*path, position)


def _goes_on(path: Path) -> bool:
    return path in (("tool_calls",), ("content",))


def _order(path: Path) -> int:
    if path[0] in _THOUGHTS:
        return 0
    return 2 if path[0] in _CALLS else 1


def _put(delta: dict[str, Any], path: Path, text: str) -> None:
    """Adds a string at its place."""
    if path[0] == "content":
        delta["content"] = delta.get("content", "") + text
        return
    if path[0] == "tool_calls":
        call: dict[str, Any] = {"index": path[1]}
        delta.setdefault("tool_calls", []).append(call)
        delta, path = call, path[2:]
    for key in path[:-1]:
        delta = delta.setdefault(str(key), {})
    delta[str(path[-1])] = text

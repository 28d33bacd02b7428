"""Puts values back into the members of one choice: its text, its thoughts, its tool calls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from hybridge.privacy.pseudonyms.tail import Kind, Tail
from hybridge.privacy.pseudonyms.vault import Vault

Path = tuple[str | int, ...]
"""Where a string stands in the message, or in a delta of it."""
Said = dict[str, Any]
"""A message, or a delta of one."""

_AS_IS = frozenset(
    {
        *("data", "finish_reason", "format", "id", "index", "name", "object", "role", "signature"),
        *("thinking_blocks", "thought_signature", "type"),
    }
)
"""Words of the protocol, and what has to come back to the upstream as it was signed."""
_DEEPEST = 16
_KINDS = (
    ("reasoning", "reasoning_content", "reasoning_details", "thinking"),
    (),
    ("function_call", "tool_calls"),
)
"""The order in which a message is told: thoughts, everything else, calls."""


class Fields:
    """Remembers what each member of a choice holds back."""

    def __init__(self, vault: Vault, content: Kind) -> None:
        """`content`: what the answer's text is."""
        self._vault = vault
        self._content: Kind = content
        self._tails: dict[Path, Tail] = {}

    def feed(self, said: Said, *, last: bool) -> tuple[Said, Said]:
        """A delta of what is held and must come before the message or delta `said`, and that with
        its values. Thoughts are over once text comes, and text once a tool is called. `last`:
        whether `said` is all that comes."""
        going_on = {path for path, text in _strings(said) if text}
        order = max(map(_order, going_on), default=0)
        rest = self._over(going_on, len(_KINDS) if last else order)
        return rest, {
            key: self._restored(value, (key,), last or _order((key,)) < order)
            for key, value in said.items()
        }

    def rest(self) -> Said:
        """A delta of all that is held."""
        return self._over(set(), len(_KINDS))

    def _over(self, going_on: set[Path], order: int) -> Said:
        rest: dict[str, Any] = {}
        for path, tail in self._tails.items():
            if tail.holds and path not in going_on and _order(path) < order:
                _put(rest, path, tail.feed("", last=True))
        return rest

    def _restored(self, value: Any, path: Path, last: bool) -> Any:
        if path[-1] in _AS_IS or len(path) > _DEEPEST:
            return value
        if isinstance(value, str):
            return self._tail(path).feed(value, last=last)
        if isinstance(value, dict) and not value.get("signature"):
            return {key: self._restored(item, (*path, key), last) for key, item in value.items()}
        if isinstance(value, list):
            return [
                self._restored(item, place, last or not goes_on)
                for item, (place, goes_on) in zip(value, _places(value, path), strict=True)
            ]
        return value

    def _tail(self, path: Path) -> Tail:
        tail = self._tails.get(path)
        if tail is None:
            tail = self._tails[path] = Tail(self._vault, self._kind(path))
        return tail

    def _kind(self, path: Path) -> Kind:
        if path[-1] == "arguments":
            return "json"
        return self._content if path[0] == "content" else "text"


def _strings(said: Said) -> Iterator[tuple[Path, str]]:
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
            places = (place for place, _ in _places(value, path))
            stack += zip(places, value, strict=True)


def _places(items: list[Any], path: Path) -> Iterator[tuple[Path, bool]]:
    """Where each item stands, and whether a later one of the same place goes on with it: so do
    items with an index (tool calls), and text that comes in parts. Others are complete."""
    for position, item in enumerate(items):
        index = item.get("index") if isinstance(item, dict) else None
        if path == ("content",):
            yield path, True
        elif isinstance(index, int):
            yield (*path, index), True
        else:
            yield (*path, position), path == ("tool_calls",)


def _order(path: Path) -> int:
    return 0 if path[0] in _KINDS[0] else 2 if path[0] in _KINDS[2] else 1


def _put(delta: Said, path: Path, text: str) -> None:
    """Adds a string at its place."""
    if path[0] == "content":
        delta["content"] = delta.get("content", "") + text
        return
    for key, after in pairwise(path):
        if isinstance(after, int):
            delta.setdefault(str(key), []).append({"index": after})
            delta = delta[str(key)][-1]
        elif isinstance(key, str):
            delta = delta.setdefault(key, {})
    delta[str(path[-1])] = text

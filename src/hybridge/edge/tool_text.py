"""Reads tool calls out of the text in which a model writes them.

A call is `{"name": …, "arguments": {…}}`, between `<tool_call>` and its end, in a fence, or bare.
Its arguments are passed on as they come; everything else is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from hybridge.edge.grammar import OPENINGS

Delta = dict[str, Any]
"""A piece of a message, as a stream tells it: `content`, or `tool_calls` with one fragment."""
_TAG = OPENINGS[0]
_HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*(?=\{)')
_BEGINNING = '{"name":"'
"""Of every call, white space aside."""
_END = re.compile(r"\s*\}?\s*(</tool_call>|```)?\s*")
"""What may stand after a call's arguments."""


class ToolText:
    """One answer, piece by piece."""

    def __init__(self, names: Collection[str], call_id: Callable[[int], str]) -> None:
        """`call_id` gives the id of a call from its index."""
        self._names = names
        self._call_id = call_id
        self._read: Callable[[], Iterator[Delta]] = self._undecided
        self._left = ""
        self._opening = ""
        self._value = Value()
        self.calls = 0
        """How many have begun."""
        self.cut = False
        """Whether the last one has not come to its end."""

    def feed(self, text: str) -> list[Delta]:
        """What is certain by now."""
        self._left += text
        deltas: list[Delta] = []
        while True:
            before = (self._read, self._left)
            deltas += self._read()
            if before == (self._read, self._left):
                return deltas

    def close(self, reason: str) -> list[Delta]:
        """What was held back until the answer's end, as text.

        Of a call that was cut off (`reason` is `length`) before it had a name nothing is told.
        """
        left, self._left = self._left, ""
        if self._read == self._after:
            left = _END.sub("", left, count=1)
        elif self._read == self._head:
            left = "" if reason == "length" else self._opening + left
        return [{"content": left}] if left else []

    def _undecided(self) -> Iterator[Delta]:
        """At the beginning, until it is clear whether it is a call."""
        begun = self._left.lstrip()
        for opening in OPENINGS:
            if begun.startswith(opening):
                return self._open(opening)
        if not any(opening.startswith(begun) for opening in OPENINGS):
            self._read = self._text
        return iter(())

    def _text(self) -> Iterator[Delta]:
        """Plain text, in which a call may still begin by its tag."""
        place = self._left.find(_TAG)
        end = place if place >= 0 else len(self._left) - _overlap(self._left)
        said, self._left = self._left[:end], self._left[end:]
        if said:
            yield {"content": said}
        if place >= 0:
            yield from self._open(_TAG)

    def _open(self, opening: str) -> Iterator[Delta]:
        """Goes into a call; a bare one's brace belongs to the call itself."""
        place = self._left.index(opening) + (0 if opening == "{" else len(opening))
        self._opening, self._left = self._left[:place], self._left[place:]
        self._read = self._head
        return iter(())

    def _head(self) -> Iterator[Delta]:
        """Until the name is there. What turns out to be no call is text."""
        head = _HEAD.match(self._left)
        if head is not None and head[1] in self._names:
            self._left = self._left[head.end() :]
            self._value, self._read = Value(), self._arguments
            index, self.calls, self.cut = self.calls, self.calls + 1, True
            yield _fragment(index, "", id=self._call_id(index), name=head[1])
        elif head is not None or not _may_begin(self._left):
            said, self._left = self._opening + self._left, ""
            self._read = self._text
            yield {"content": said}

    def _arguments(self) -> Iterator[Delta]:
        """Passes them on until their value is whole."""
        end = self._value.feed(self._left)
        told, self._left = self._left[:end], "" if end is None else self._left[end:]
        if end is not None:
            self.cut, self._read = False, self._after
        if told:
            yield _fragment(self.calls - 1, told)

    def _after(self) -> Iterator[Delta]:
        """Between calls. What is said there besides is text."""
        rest = _END.sub("", self._left, count=1)
        if _TAG in rest:
            said, self._left = rest[: rest.index(_TAG)], rest
            if said:
                yield {"content": said}
            yield from self._open(_TAG)


class Value:
    """Finds the end of one JSON object that comes in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = self._escaped = False

    def feed(self, text: str) -> int | None:
        """Where the object ends in this piece, which goes on from the last; None: not in it."""
        for place, character in enumerate(text):
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped = character == "\\"
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                if self._depth <= 0:
                    return place + 1
        return None


def _may_begin(text: str) -> bool:
    """Whether this may still become the head of a call."""
    if Value().feed(text) is not None:
        return False
    begun = "".join(text[: 4 * len(_BEGINNING)].split())
    return begun.startswith(_BEGINNING) or _BEGINNING.startswith(begun)


def _overlap(text: str) -> int:
    """How many characters at its end may be the beginning of a tag."""
    return next((n for n in range(len(_TAG) - 1, 0, -1) if text.endswith(_TAG[:n])), 0)


def _fragment(index: int, arguments: str, **begun: str) -> Delta:
    if not begun:
        return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}
    function = {"name": begun["name"], "arguments": arguments}
    call = {"index": index, "id": begun["id"], "type": "function", "function": function}
    return {"tool_calls": [call]}

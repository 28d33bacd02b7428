"""A stream's pieces as content blocks, one after the other.

The chat vocabulary lets the fragments of several tool calls come in any order; here a block must
end before the next one begins. A call's fragments wait until it is their turn, and the call before
them ends once its arguments are complete. What is said in words after the first call waits for the
end, so that no call is cut in two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hybridge.core.errors import BackendError, Fault
from hybridge.server.shapes.messages import events
from hybridge.server.shapes.messages.message import UNREADABLE, call_id, read_input
from hybridge.server.shapes.pieces import CallPiece, Piece

THINKING, TEXT, TOOL_USE = "thinking", "text", "tool_use"
_EMPTY: dict[str, dict[str, Any]] = {
    THINKING: {"type": THINKING, "thinking": "", "signature": ""},
    TEXT: {"type": TEXT, "text": ""},
}
"""What a block is when it begins."""


@dataclass(slots=True)
class _Call:
    """One tool call, as far as it has come."""

    id: str = ""
    name: str = ""
    over: bool = False
    """Whether its block has ended."""
    told: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    looked_at: int = 0
    """How many of the arguments told are known not to complete it."""

    def add(self, piece: CallPiece) -> None:
        """Raises `BackendError` for more of a call that was complete."""
        if self.over and piece.arguments.strip():
            raise BackendError(
                "more of a tool call came after its end", backend="", fault=Fault.PROTOCOL
            )
        self.id, self.name = self.id or piece.id, self.name or piece.name
        if piece.arguments:
            self.waiting.append(piece.arguments)

    def take(self) -> str:
        """The arguments that have not been told yet."""
        text = "".join(self.waiting)
        self.told += self.waiting
        self.waiting.clear()
        return text

    def complete(self) -> bool:
        """Whether the arguments told are an object, so that nothing can follow."""
        new, self.looked_at = "".join(self.told[self.looked_at :]), len(self.told)
        if not new.rstrip().endswith("}"):
            return False
        return UNREADABLE not in read_input("".join(self.told))


class Blocks:
    """Give it pieces; it gives the events to send."""

    def __init__(self, salt: str, *, thoughts: bool) -> None:
        """`thoughts`: whether they are shown; `salt` makes ids of calls that have none."""
        self._salt = salt
        self._thoughts = thoughts
        self._index = -1
        self._open: str | None = None
        self._calls: dict[int, _Call] = {}
        """By the index that the backend gives them, in the order they came."""
        self._waiting = deque[_Call]()
        """The call that is being told, and those after it."""
        self._late: list[tuple[str, str]] = []
        """What was said in words after the first call."""

    @property
    def called(self) -> bool:
        """Whether there was a tool call."""
        return bool(self._calls)

    def add(self, piece: Piece) -> Iterator[bytes]:
        """What can be told now. Raises `BackendError` for more of a call that was complete."""
        for kind, text in _words(piece, thoughts=self._thoughts):
            if self._calls:
                self._late.append((kind, text))
            else:
                yield from self._say(kind, text)
        for fragment in piece.calls:
            self._called(fragment.index).add(fragment)
            yield from self._call()

    def close(self) -> Iterator[bytes]:
        """All that waits, and the end of the last block."""
        yield from self._call(last=True)
        for kind, text in self._late:
            yield from self._say(kind, text)
        yield from self._stop()

    def _say(self, kind: str, text: str) -> Iterator[bytes]:
        if self._open != kind:
            yield from self._start(kind, _EMPTY[kind])
        yield events.grown(self._index, f"{kind}_delta", kind, text)

    def _call(self, *, last: bool = False) -> Iterator[bytes]:
        """Tells calls in their order, as far as they have come; `last`: nothing more will come."""
        waiting = self._waiting
        while waiting and (waiting[0].name or last):
            call = waiting[0]
            if self._open != TOOL_USE:
                yield from self._start(TOOL_USE, self._begun(call))
            if text := call.take():
                yield events.grown(self._index, "input_json_delta", "partial_json", text)
            if not last and (len(waiting) == 1 or not call.complete()):
                return
            yield from self._stop()
            call.over = True
            waiting.popleft()

    def _called(self, index: int) -> _Call:
        call = self._calls.get(index)
        if call is None:
            call = self._calls[index] = _Call()
            self._waiting.append(call)
        return call

    def _begun(self, call: _Call) -> dict[str, Any]:
        name = call_id(call.id, len(self._calls) - len(self._waiting), self._salt)
        return {"type": TOOL_USE, "id": name, "name": call.name, "input": {}}

    def _start(self, kind: str, block: dict[str, Any]) -> Iterator[bytes]:
        yield from self._stop()
        self._index += 1
        self._open = kind
        yield events.started(self._index, block)

    def _stop(self) -> Iterator[bytes]:
        if self._open is not None:
            self._open = None
            yield events.stopped(self._index)


def _words(piece: Piece, *, thoughts: bool) -> Iterator[tuple[str, str]]:
    if piece.reasoning and thoughts:
        yield THINKING, piece.reasoning
    if piece.text or piece.refusal:
        yield TEXT, piece.text + piece.refusal

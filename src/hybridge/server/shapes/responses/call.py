"""A function call."""

from __future__ import annotations

from collections.abc import Iterator

from hybridge.server.shapes.pieces import CallPiece
from hybridge.server.shapes.responses.grown import Event, Item, added, done


class Call:
    """Its name and its arguments, which come in pieces."""

    def __init__(self, name: str, index: int, call_id: str) -> None:
        self._index = index
        self._item = {"id": name, "type": "function_call", "call_id": call_id}
        self._function = ""
        self._arguments: list[str] = []
        self._place = {"item_id": name, "output_index": index}

    def begin(self) -> Iterator[Event]:
        """See `Grown`."""
        yield added(self._index, self.item("in_progress"))

    def add(self, piece: CallPiece) -> Iterator[Event]:
        """More of its arguments."""
        if piece.arguments:
            self._arguments.append(piece.arguments)
            delta = {**self._place, "delta": piece.arguments}
            yield "response.function_call_arguments.delta", delta

    def named(self, name: str) -> None:
        """Sets the function's name, once."""
        self._function = self._function or name

    def end(self, status: str) -> Iterator[Event]:
        """See `Grown`."""
        told = {"name": self._function, "arguments": "".join(self._arguments)}
        yield "response.function_call_arguments.done", {**self._place, **told}
        yield done(self._index, self.item(status))

    def item(self, status: str) -> Item:
        """See `Grown`."""
        told = {"name": self._function, "arguments": "".join(self._arguments), "status": status}
        return {**self._item, **told}

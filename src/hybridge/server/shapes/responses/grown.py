"""One item of an answer as it grows, and the events that tell of it.

Events and their order: https://platform.openai.com/docs/api-reference/responses-streaming. Every
kind of item has a `begin`, an `add` and an `end` that give events, and an `item` that is the whole
of it so far. An event is its type and its members; the writer numbers and encodes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

Event = tuple[str, dict[str, Any]]
Item = dict[str, Any]


class Grown(Protocol):
    """What all kinds of items have in common."""

    def begin(self) -> Iterator[Event]:
        """The events by which it appears."""
        ...

    def end(self, status: str) -> Iterator[Event]:
        """The events by which it is complete."""
        ...

    def item(self, status: str) -> Item:
        """All of it so far. `status` is `in_progress`, `completed` or `incomplete`."""
        ...


def added(index: int, item: Item) -> Event:
    """An item appears, with nothing in it yet."""
    return "response.output_item.added", {"output_index": index, "item": item}


def done(index: int, item: Item) -> Event:
    """An item is complete."""
    return "response.output_item.done", {"output_index": index, "item": item}

"""A reasoning item: what the model thought before it spoke."""

from __future__ import annotations

from collections.abc import Iterator

from hybridge.server.shapes.responses.grown import Event, Item, added, done


class Thoughts:
    """A reasoning item. With `summarised`, thoughts are told as a summary."""

    def __init__(self, name: str, index: int, *, summarised: bool) -> None:
        self._name = name
        self._index = index
        self._kind = "summary" if summarised else "content"
        self._said: list[str] = []
        text = "reasoning_summary_text" if summarised else "reasoning_text"
        part = "reasoning_summary_part" if summarised else "content_part"
        self._text, self._part = f"response.{text}", f"response.{part}"
        self._place = {"item_id": name, "output_index": index, f"{self._kind}_index": 0}

    def begin(self) -> Iterator[Event]:
        """See `Grown`."""
        yield added(self._index, self.item("in_progress"))
        yield f"{self._part}.added", {**self._place, "part": self._told("")}

    def add(self, text: str) -> Iterator[Event]:
        """Further thoughts."""
        self._said.append(text)
        yield f"{self._text}.delta", {**self._place, "delta": text}

    def end(self, status: str) -> Iterator[Event]:
        """See `Grown`."""
        text = "".join(self._said)
        yield f"{self._text}.done", {**self._place, "text": text}
        yield f"{self._part}.done", {**self._place, "part": self._told(text)}
        yield done(self._index, self.item(status))

    def item(self, status: str) -> Item:
        """See `Grown`."""
        parts = [self._told("".join(self._said))] if self._said else []
        item: Item = {"id": self._name, "type": "reasoning", "summary": [], "status": status}
        return item | {self._kind: parts}

    def _told(self, text: str) -> Item:
        kind = "summary_text" if self._kind == "summary" else "reasoning_text"
        return {"type": kind, "text": text}

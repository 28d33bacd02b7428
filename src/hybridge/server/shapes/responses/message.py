"""A message: what the model says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hybridge.server.shapes.responses.grown import Event, Item, added, done

Logprob = dict[str, Any]


class Message:
    """What the model says: text, or a refusal, or one after the other."""

    def __init__(self, name: str, index: int) -> None:
        self._name = name
        self._index = index
        self._parts: list[_Part] = []

    def begin(self) -> Iterator[Event]:
        """See `Grown`."""
        yield added(self._index, self.item("in_progress"))

    def add(self, kind: str, text: str, logprobs: Sequence[Logprob]) -> Iterator[Event]:
        """More of it; `kind` is the type of part that it belongs to."""
        if not self._parts or self._parts[-1].kind != kind:
            yield from self._end_part()
            self._parts.append(_Part(kind, self._name, self._index, len(self._parts)))
            yield from self._parts[-1].begin()
        yield from self._parts[-1].add(text, logprobs)

    def end(self, status: str) -> Iterator[Event]:
        """See `Grown`."""
        yield from self._end_part()
        yield done(self._index, self.item(status))

    def item(self, status: str) -> Item:
        """See `Grown`."""
        content = [part.told() for part in self._parts]
        return {
            "id": self._name,
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": content,
        }

    def late(self, logprobs: Sequence[Logprob]) -> None:
        """Tokens that came without text of their own, and no text after them."""
        for part in self._parts[-1:]:
            part.logprobs.extend(logprobs)

    def _end_part(self) -> Iterator[Event]:
        for part in self._parts[-1:]:
            yield from part.end()


class _Part:
    """One part of a message."""

    def __init__(self, kind: str, name: str, index: int, position: int) -> None:
        self.kind = kind
        self.logprobs: list[Logprob] = []
        self._said: list[str] = []
        self._place = {"item_id": name, "output_index": index, "content_index": position}

    def begin(self) -> Iterator[Event]:
        yield "response.content_part.added", {**self._place, "part": self.told()}

    def add(self, text: str, logprobs: Sequence[Logprob]) -> Iterator[Event]:
        self._said.append(text)
        self.logprobs.extend(logprobs)
        delta = {**self._place, "delta": text}
        if self.kind == "output_text":
            yield "response.output_text.delta", {**delta, "logprobs": logprobs}
        else:
            yield "response.refusal.delta", delta

    def end(self) -> Iterator[Event]:
        text = "".join(self._said)
        if self.kind == "output_text":
            done = {**self._place, "text": text, "logprobs": self.logprobs}
            yield "response.output_text.done", done
        else:
            yield "response.refusal.done", {**self._place, "refusal": text}
        yield "response.content_part.done", {**self._place, "part": self.told()}

    def told(self) -> Item:
        text = "".join(self._said)
        if self.kind == "refusal":
            return {"type": "refusal", "refusal": text}
        # a copy: what an event says must not grow with later tokens
        return {
            "type": "output_text",
            "text": text,
            "annotations": [],
            "logprobs": list(self.logprobs),
        }

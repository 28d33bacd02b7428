"""Puts values back into an answer, whole or as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec.structs import replace

from hybridge.core.errors import BackendError
from hybridge.core.response import Chunk, Completion, Event, Token
from hybridge.core.wire import chunk, parse
from hybridge.privacy.pseudonyms.fields import Fields
from hybridge.privacy.pseudonyms.tail import Kind, Known


class Restoring:
    """Follows one answer. Every event that comes in goes out, changed only where something was
    restored; what is held goes out before what ends it.

    Log-probabilities are taken out of the wire, for their tokens spell placeholders; the judge's
    own numbers stay.
    """

    def __init__(self, known: Known, content: Kind) -> None:
        """`content`: what the answer's text is."""
        self._known = known
        self._content = content
        self._choices: dict[int, Fields] = {}
        self._head: dict[str, Any] = {}
        """The members that the chunks have in common."""

    def take(self, event: Event) -> Iterator[Event]:
        """What goes out for one event."""
        body = parse(event.wire)
        if isinstance(event, Completion):
            yield self._rewritten(event, body)
            return
        self._head = {k: v for k, v in body.items() if k not in ("choices", "usage")}
        before = self._overdue(body)
        if before:
            yield self._chunk(before, more=True)
        yield self._rewritten(event, body)

    def rest(self) -> Chunk | None:
        """What is still held, where the answer has ended without an end."""
        left = self._left()
        return self._chunk(left, more=False) if left else None

    def _overdue(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        choices = body.get("choices") or ()
        if not choices and body.get("usage"):
            return self._left()
        found = []
        for choice in choices:
            said, last = _said(choice)[1], choice.get("finish_reason") is not None
            rest = self._fields(choice).overdue(said, last=last)
            if rest:
                found.append(_delta(choice.get("index", 0), rest))
        return found

    def _left(self) -> list[dict[str, Any]]:
        rests = [(index, fields.overdue({}, last=True)) for index, fields in self._choices.items()]
        return [_delta(index, rest) for index, rest in rests if rest]

    def _rewritten(self, event: Event, body: dict[str, Any]) -> Event:
        text, changed = event.text, False
        for choice in body.get("choices") or ():
            key, said = _said(choice)
            last = isinstance(event, Completion) or choice.get("finish_reason") is not None
            restored = self._fields(choice).feed(said, last=last)
            if restored != said:
                choice[key], changed = restored, True
                text = _text(restored) if choice.get("index", 0) == 0 else text
            changed |= choice.pop("logprobs", None) is not None
        tokens = tuple(Token("", token.logprob) for token in event.tokens)
        if not changed:
            return replace(event, tokens=tokens) if tokens else event
        return replace(event, wire=msgspec.json.encode(body), text=text, tokens=tokens)

    def _fields(self, choice: dict[str, Any]) -> Fields:
        index = choice.get("index", 0)
        fields = self._choices.get(index)
        if fields is None:
            fields = self._choices[index] = Fields(self._known, self._content)
        return fields

    def _chunk(self, choices: list[dict[str, Any]], *, more: bool) -> Chunk:
        return chunk(msgspec.json.encode(self._head | {"choices": choices}), more=more)


async def restored(
    events: AsyncGenerator[Event, None], answer: Restoring
) -> AsyncGenerator[Event, None]:
    """The events with their values. One that breaks off first says all that it had said."""
    async with aclosing(events):
        try:
            async for event in events:
                for told in answer.take(event):
                    yield told
        except BackendError:
            if (rest := answer.rest()) is not None:
                yield rest
            raise
    if (rest := answer.rest()) is not None:
        yield rest


def _said(choice: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What it says, and under which key."""
    key = "message" if choice.get("delta") is None else "delta"
    return key, choice.get(key) or {}


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": None}


def _text(said: dict[str, Any]) -> str:
    content = said.get("content")
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content or ""

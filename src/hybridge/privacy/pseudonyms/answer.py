"""Puts values back into an answer, whole or as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec.structs import replace

from hybridge.core.errors import BackendError
from hybridge.core.response import Chunk, Completion, Event, Token
from hybridge.core.wire import Malformed, chunk, parse
from hybridge.privacy.pseudonyms.fields import Fields
from hybridge.privacy.pseudonyms.tail import Kind
from hybridge.privacy.pseudonyms.vault import Vault


class Restoring:
    """Follows one answer. Every event that comes in goes out, changed only where something was
    restored; what is held goes out before what ends it.

    Log-probabilities are taken out of the wire, for their tokens spell placeholders; the judge's
    own numbers stay.
    """

    def __init__(self, vault: Vault, content: Kind) -> None:
        """`content`: what the answer's text is."""
        self._vault = vault
        self._content: Kind = content
        self._choices: dict[int, Fields] = {}
        self._head: dict[str, Any] = {}
        """The members that the chunks have in common."""

    def take(self, event: Event) -> list[Event]:
        """What goes out for one event; one that cannot be read here as it came."""
        try:
            body = parse(event.wire)
        except Malformed:
            return [event]
        choices = body.get("choices") or []
        before = [] if choices or not event.usage else self._left()
        changed, text = False, event.text
        for choice in choices:
            index, said = choice.get("index", 0), _said(choice)
            last = isinstance(event, Completion) or choice.get("finish_reason") is not None
            rest, restored = self._fields(index).feed(said, last=last)
            before += [_delta(index, rest)] if rest else []
            if restored != said:
                choice["message" if choice.get("delta") is None else "delta"] = restored
                changed, text = True, text if index else _text(restored)
            changed |= choice.pop("logprobs", None) is not None
        if isinstance(event, Chunk):
            self._head = {k: v for k, v in body.items() if k not in ("choices", "usage")}
        tokens = tuple(Token("", token.logprob) for token in event.tokens)
        if changed:
            event = replace(event, wire=msgspec.json.encode(body), text=text)
        if tokens:
            event = replace(event, tokens=tokens)
        return [self._chunk(before, more=True), event] if before else [event]

    def rest(self) -> Chunk | None:
        """What is still held, where the answer has ended without an end."""
        left = self._left()
        return self._chunk(left, more=False) if left else None

    def _left(self) -> list[dict[str, Any]]:
        rests = [(index, fields.rest()) for index, fields in self._choices.items()]
        return [_delta(index, rest) for index, rest in rests if rest]

    def _fields(self, index: int) -> Fields:
        fields = self._choices.get(index)
        if fields is None:
            fields = self._choices[index] = Fields(self._vault, self._content)
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


def _said(choice: dict[str, Any]) -> dict[str, Any]:
    return choice.get("delta") or choice.get("message") or {}


def _delta(index: int, delta: dict[str, Any]) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": None}


def _text(said: dict[str, Any]) -> str:
    content = said.get("content")
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content or ""

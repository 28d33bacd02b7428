"""Tells an answer as a message, whole or event by event."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from hybridge.core.request import Request
from hybridge.core.response import Chunk, Completion, Usage
from hybridge.core.wire import splice
from hybridge.server.errors import Failure
from hybridge.server.shapes import pieces
from hybridge.server.shapes.chat.ending import REPORT
from hybridge.server.shapes.messages import events
from hybridge.server.shapes.messages.errors import error_body
from hybridge.server.shapes.messages.message import content_of, message, usage_object
from hybridge.server.shapes.messages.stop import Stop, stop_of
from hybridge.server.shapes.messages.telling import Blocks

Count = Callable[[Request], int]
"""Estimates a prompt's tokens."""


class MessagesWriter:
    """Implements `Writer`."""

    def __init__(self, request: Request, count: Count, *, thoughts: bool) -> None:
        """`thoughts`: whether the caller wants to see them."""
        self._request = request
        self._count = count
        self._thoughts = thoughts
        self._salt = request.id.removeprefix("req-")
        self._blocks = Blocks(self._salt, thoughts=thoughts)
        self._begun = False
        self._refused = False
        self._stop: Stop | None = None
        self._usage: Usage | None = None

    @property
    def finished(self) -> bool:
        """See `Writer`."""
        return self._stop is not None

    def whole(self, answer: Completion, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        piece = pieces.read(answer)
        stop = stop_of(
            answer, self._sequences, called=bool(piece.calls), refused=bool(piece.refusal)
        )
        content = content_of(piece, self._salt, thoughts=self._thoughts)
        told = self._message(answer.model, content, stop, answer.usage or usage)
        return _with_report(msgspec.json.encode(told), report)

    def chunk(self, chunk: Chunk) -> bytes:
        """See `Writer`. Raises `BackendError` for tool calls that nobody could put in order."""
        piece = pieces.read(chunk)
        self._usage = chunk.usage or self._usage
        self._refused = self._refused or bool(piece.refusal)
        told = [*self._begin(chunk), *self._blocks.add(piece)]
        if chunk.finish_reason is not None:
            called, refused = self._blocks.called, self._refused
            self._stop = stop_of(chunk, self._sequences, called=called, refused=refused)
        return b"".join(told)

    def end(self, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        if self._stop is None:
            raise ValueError("the stream did not finish")
        counted = usage_object(self._usage or usage)
        delta = {"type": "message_delta", "delta": self._stop.told, "usage": counted}
        wire = _with_report(msgspec.json.encode(delta), report)
        last = (events.of_wire("message_delta", wire), events.event("message_stop"))
        return b"".join((*self._blocks.close(), *last))

    def failed(self, failed: Failure) -> bytes:
        """No `message_stop` follows it."""
        return events.of_wire("error", error_body(failed, self._request.id))

    @property
    def _sequences(self) -> Collection[str]:
        return self._request.body.get("stop") or ()

    def _begin(self, chunk: Chunk) -> list[bytes]:
        """What goes before the first block: the prompt's tokens are an estimate there, for most
        backends count them at the end only."""
        if self._begun:
            return []
        self._begun = True
        usage = chunk.usage or Usage(self._count(self._request), 0, estimated=True)
        return [events.event("message_start", message=self._message(chunk.model, [], None, usage))]

    def _message(
        self, model: str, content: list[dict[str, Any]], stop: Stop | None, usage: Usage
    ) -> dict[str, Any]:
        return message(f"msg_{self._salt}", model or self._request.model, content, stop, usage)


def _with_report(wire: bytes, report: bytes | None) -> bytes:
    """The report is a member of the message, or of a stream's `message_delta`."""
    return wire if report is None else splice(wire, REPORT, report)

"""Tells an answer as a chat completion: the backend's own bytes, and the report beside them."""

from __future__ import annotations

import msgspec

from hybridge.core.response import Chunk, Completion, Usage
from hybridge.core.wire import splice
from hybridge.server import sse
from hybridge.server.errors import Failure
from hybridge.server.shapes.chat.ending import REPORT, UNUSED, Ending, usage_object


class ChatWriter:
    """Implements `Writer`."""

    def __init__(self, *, with_usage: bool) -> None:
        """`with_usage`: whether the caller of a stream asked for the usage chunk."""
        self._ending = Ending(with_usage=with_usage)

    @property
    def finished(self) -> bool:
        """See `Writer`."""
        return self._ending.finished

    def whole(self, answer: Completion, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        wire = answer.wire
        if answer.usage is None:
            told = msgspec.json.encode(usage_object(usage))
            wire = splice(wire.replace(UNUSED, b""), "usage", told)
        return wire if report is None else splice(wire, REPORT, report)

    def chunk(self, chunk: Chunk) -> bytes:
        """See `Writer`."""
        wire = self._ending.take(chunk)
        return b"" if wire is None else sse.event(wire)

    def end(self, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        last = self._ending.close(usage, report)
        return b"".join([*map(sse.event, last), sse.DONE])

    def failed(self, failed: Failure) -> bytes:
        """No `[DONE]` follows it (R71)."""
        return sse.event(failed.body)

"""From a stream's bytes to the chunks in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hybridge.cloud.sse import SseReader
from hybridge.cloud.tool_calls import ToolCalls
from hybridge.core import wire
from hybridge.core.response import Chunk

DONE = b"[DONE]"


class ChunkReader:
    """Give it bytes as they come; it gives each chunk that is complete.

    Raises `wire.Malformed`, `wire.ErrorInBand` or `EventTooLarge`, after the chunks before it.
    """

    def __init__(self, request_id: str) -> None:
        self._events = SseReader()
        self._calls = ToolCalls(request_id)
        self.finished = False
        """Whether a finish reason has come, so that nothing is missing from the answer."""
        self.done = False
        """Whether the end mark has come; what lies behind it is not read."""

    def feed(self, piece: bytes) -> Iterator[Chunk]:
        """The chunks that `piece` completes."""
        return self._read(self._events.feed(piece))

    def close(self) -> Iterator[Chunk]:
        """The chunk that is left at the end of the stream, if there is one."""
        return self._read(self._events.close())

    def _read(self, events: Iterable[bytes]) -> Iterator[Chunk]:
        for data in events:
            if self.done or data == DONE:
                self.done = True
                return
            chunk = self._calls.mend(wire.chunk(data))
            if chunk.finish_reason is not None:
                self.finished = True
            yield chunk

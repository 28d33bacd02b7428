"""From a stream's bytes to the chunks in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from hybridge.cloud.sse import EventTooLarge, SseReader
from hybridge.cloud.tool_calls import ToolCalls
from hybridge.core import wire
from hybridge.core.response import Chunk

DONE = b"[DONE]"


class ChunkReader:
    """Give it bytes as they come; it gives each chunk that is complete.

    Raises `wire.Malformed`, `wire.ErrorInBand` or `EventTooLarge`, after the chunks before it.
    """

    def __init__(self, request_id: str, *, hide_logprobs: bool = False, choices: int = 1) -> None:
        """`hide_logprobs`: whether they stay out of the wire, being here for the judge alone.
        `choices`: how many were asked for."""
        self._events = SseReader()
        self._calls = ToolCalls(request_id)
        self._hide_logprobs = hide_logprobs
        self._unfinished = set(range(1, choices))
        """Choices beyond the first that have no finish reason yet."""
        self._first_finished = False
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
        """Each chunk knows whether another came with it, so it waits for the next to be read."""
        last: Chunk | None = None
        try:
            for data in events:
                if self.done or data == DONE:
                    self.done = True
                    break
                if last is not None:
                    yield last
                    last = None
                last = self._chunk(data)
        except (wire.Malformed, wire.ErrorInBand, EventTooLarge):
            if last is not None:
                yield last
            raise
        if last is not None:
            yield last if self.done else replace(last, more=False)

    def _chunk(self, data: bytes) -> Chunk:
        chunk = self._calls.mend(wire.chunk(data, more=True))
        if self._unfinished or chunk.finish_reason is not None:
            self._note_end(chunk)
        return wire.hide_logprobs(chunk) if self._hide_logprobs else chunk

    def _note_end(self, chunk: Chunk) -> None:
        self._first_finished |= chunk.finish_reason is not None
        if self._unfinished:
            self._unfinished -= _finished(chunk)
        self.finished = self._first_finished and not self._unfinished


def _finished(chunk: Chunk) -> set[int]:
    """The choices that a chunk ends. Raises `Malformed`."""
    choices = wire.parse(chunk.wire).get("choices") or ()
    return {choice.get("index", 0) for choice in choices if choice.get("finish_reason")}

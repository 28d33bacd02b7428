"""Reads server-sent events from bytes that come in any pieces.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_EVENT_BYTES = 16 << 20
"""An event larger than this is not one."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class EventTooLarge(ValueError):
    """A line or an event beyond `MAX_EVENT_BYTES`."""


class SseReader:
    """Give it bytes as they come; it gives the data of each event that is complete.

    Lines end in LF, CR or CRLF. Bytes are never decoded here, so that no character can be torn.
    Comments, and fields other than `data`, are passed over.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._begun = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of each event that `piece` completes. Raises `EventTooLarge`."""
        buffer = self._rest + piece if self._rest else piece
        if not self._begun:
            if len(buffer) < len(_BOM) and _BOM.startswith(buffer):
                self._rest = buffer
                return
            buffer, self._begun = buffer.removeprefix(_BOM), True
        start = 0
        for end in _LINE_END.finditer(buffer):
            # A CR at the very end may be the first half of CRLF: wait for the other.
            if end.end() == len(buffer) and end[0] == b"\r":
                break
            line, start = buffer[start : end.start()], end.end()
            if line:
                self._take(line)
            elif (event := self._complete()) is not None:
                yield event
        self._rest = buffer[start:]
        self._check(len(self._rest))

    def close(self) -> Iterator[bytes]:
        """What is left at the end of the stream: an event whose blank line never came."""
        yield from self.feed(b"\n\n")

    def _take(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if name == b"data":
            value = value[1:] if colon and value[:1] == b" " else value
            self._data.append(value)
            self._size += len(value)
            self._check(self._size)

    def _complete(self) -> bytes | None:
        if not self._data:
            return None
        event = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data, self._size = [], 0
        return event

    def _check(self, size: int) -> None:
        if size > MAX_EVENT_BYTES:
            raise EventTooLarge(f"an event of more than {MAX_EVENT_BYTES} bytes")

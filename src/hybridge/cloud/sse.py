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
        self._parked: list[bytes] = []
        """Pieces of a line that has not ended; joined once, when it does."""
        self._parked_size = 0
        self._data: list[bytes] = []
        self._size = 0
        self._begun = False
        self._after_cr = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of each event that `piece` completes. Raises `EventTooLarge`."""
        piece = self._opened(piece)
        if _LINE_END.search(piece) is None:
            self._park(piece)
            return
        buffer = b"".join((*self._parked, piece))
        self._parked, self._parked_size = [], 0
        self._after_cr = buffer.endswith(b"\r")
        lines = buffer.split(b"\n") if b"\r" not in buffer else _LINE_END.split(buffer)
        rest = lines.pop()
        for line in lines:
            if line:
                self._take(line)
            elif (event := self._complete()) is not None:
                yield event
        self._park(rest)

    def close(self) -> Iterator[bytes]:
        """What is left at the end of the stream: an event whose blank line never came."""
        yield from self.feed(b"\n\n")

    def _opened(self, piece: bytes) -> bytes:
        """The piece without a byte order mark, and without the LF of a CRLF that was cut in two."""
        if self._after_cr and piece:
            self._after_cr = False
            piece = piece.removeprefix(b"\n")
        if not self._begun:
            piece = b"".join((*self._parked, piece))
            self._parked, self._parked_size = [], 0
            self._begun = len(piece) >= len(_BOM) or not _BOM.startswith(piece)
            return piece.removeprefix(_BOM)
        return piece

    def _park(self, piece: bytes) -> None:
        if piece:
            self._parked.append(piece)
            self._parked_size += len(piece)
            self._check(self._parked_size)

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

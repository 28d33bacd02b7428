"""One response as its bytes come in."""

from __future__ import annotations

from collections.abc import Mapping

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from hybridge.cloud.http.errors import Unreachable

MAX_HEAD_BYTES = 64 << 10
"""Status line and headers; what is longer is not read. nginx takes up to 8 KiB."""


class Response:
    """Give it bytes as they come. httptools parses them and calls the `on_…` methods.

    Interim responses (100 to 199, RFC 9110, 15.2) are passed over. A body without a length ends
    where the connection does (RFC 9112, 6.3).
    """

    __slots__ = (
        "_head_bytes", "_parser", "_wrong",
        "complete", "headers", "pieces", "received", "reusable", "status", "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.status = 0
        """0 until the head is complete."""
        self.headers: list[tuple[bytes, bytes]] = []
        self.pieces: list[bytes] = []
        """Of the body, as they came, still packed if the server packed them."""
        self.waiting = 0
        """Bytes in `pieces`."""
        self.received = 0
        """Bytes of any kind so far."""
        self.complete = False
        self.reusable = False
        """Whether another request may follow on the same connection."""
        self._head_bytes = 0
        self._wrong = ""
        self._parser = HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Takes what came. Raises `Unreachable` when that is no response."""
        self.received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            if not self.complete:
                raise Unreachable("does not speak HTTP") from error
            self.reusable = False  # what lies behind the answer belongs to nobody
        if self._wrong:
            raise Unreachable(self._wrong)
        if not self.status and self.received > MAX_HEAD_BYTES:
            raise Unreachable("sent a head that is too large")

    def end(self) -> None:
        """The connection's end has come, which completes a body without a length."""
        if self.status and self._ends_with_connection():
            self.complete = True

    def close(self) -> None:
        """No more is fed."""
        if hasattr(self, "_parser"):
            del self._parser

    def take(self) -> bytes:
        """The pieces so far, as one."""
        pieces = self.pieces
        self.pieces, self.waiting = [], 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def header(self, name: bytes) -> bytes:
        """By lower-case name; empty when there is none."""
        for found, value in self.headers:
            if len(found) == len(name) and found.lower() == name:
                return value
        return b""

    def on_message_begin(self) -> None:
        if self.complete:
            raise Unreachable("said more than was asked for")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value) + 4
        if not self.status:  # or else it is a trailer
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self._head_bytes > MAX_HEAD_BYTES:
            self._wrong = "sent a head that is too large"
        elif status == 101:
            self._wrong = "switched to another protocol"
        elif status < 200:
            self.headers.clear()
        else:
            self.status = status

    def on_body(self, body: bytes) -> None:
        self.pieces.append(body)
        self.waiting += len(body)

    def on_message_complete(self) -> None:
        if self.status:
            self.complete = True
            self.reusable = self._parser.should_keep_alive()
            del self._parser  # it holds this object; nothing should wait for the garbage collector

    def _ends_with_connection(self) -> bool:
        chunked = self.header(b"transfer-encoding").lower().endswith(b"chunked")
        return not chunked and not self.header(b"content-length")


def plain(headers: list[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """By lower-case name; the last of several with one name."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}

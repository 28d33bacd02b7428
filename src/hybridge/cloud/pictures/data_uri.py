"""A picture as its data URI (RFC 2397), while it comes."""

from __future__ import annotations

from binascii import b2a_base64

from hybridge.cloud.pictures.kinds import HEAD_BYTES, kind


class DataUri:
    """Give it bytes as they come. All of a large picture at once would hold up everybody else for
    a tenth of a second."""

    def __init__(self) -> None:
        self._head = b""
        self._rest = b""
        self._encoded: list[str] = []

    def feed(self, data: bytes) -> None:
        """Takes what came."""
        if len(self._head) < HEAD_BYTES:
            self._head += data[:HEAD_BYTES]
        data = self._rest + data if self._rest else data
        whole = len(data) - len(data) % 3
        self._rest = data[whole:]
        self._encode(data[:whole])

    def end(self) -> str:
        """The whole, with the type that its bytes show. Raises `BadPicture` for no picture."""
        self._encode(self._rest)
        return "".join([f"data:{kind(self._head)};base64,", *self._encoded])

    def _encode(self, data: bytes) -> None:
        self._encoded.append(b2a_base64(data, newline=False).decode("ascii"))

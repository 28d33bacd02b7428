"""Bodies that a server packed although it was asked not to."""

from __future__ import annotations

import zlib

from hybridge.cloud.http.errors import Unreachable

_ANY_HEADER = 32 + zlib.MAX_WBITS
"""zlib's own word for: a gzip or a zlib header, whichever is there."""
_NO_HEADER = -zlib.MAX_WBITS
_PACKED = (b"gzip", b"x-gzip", b"deflate")


class Unpacker:
    """Give it bytes as they come; it gives at most `limit` bytes at a time.

    Formats: RFC 9110, 8.4.1. `deflate` comes with and without its zlib header.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inflate: zlib._Decompress | None = None
        self._left = b""
        self.pending = False
        """Whether there may be more without new bytes: feed it nothing to get it."""

    def feed(self, data: bytes) -> bytes:
        """What `data` unpacks to. Raises `Unreachable` when it cannot be unpacked."""
        data = self._left + data
        if not data and not self.pending:
            return b""
        inflate = self._begun(data)
        try:
            piece = inflate.decompress(data, self._limit)
        except zlib.error as error:
            raise Unreachable("sent a body that cannot be unpacked") from error
        self._left = inflate.unconsumed_tail or inflate.unused_data
        self.pending = bool(self._left) or len(piece) == self._limit
        return piece

    def end(self) -> None:
        """No more is to come. Raises `Unreachable` when something is missing."""
        if self._inflate is not None and not self._inflate.eof:
            raise Unreachable("sent a body that breaks off")

    def _begun(self, data: bytes) -> zlib._Decompress:
        """The member that `data` goes on with; a gzip body may have several (RFC 1952, 2.2)."""
        if self._inflate is None:
            method = data[0] & 0x0F  # 8 in a zlib header (RFC 1950, 2.2); gzip begins with 0x1f
            self._inflate = zlib.decompressobj(
                _ANY_HEADER if method == 8 or data[0] == 0x1F else _NO_HEADER
            )
        elif self._inflate.eof and data:
            self._inflate = zlib.decompressobj(_ANY_HEADER)
        return self._inflate


def unpacker(encoding: bytes, limit: int) -> Unpacker | None:
    """For a `content-encoding`; None where nothing is packed. Raises `Unreachable` for others."""
    encoding = encoding.strip().lower()
    if encoding in (b"", b"identity"):
        return None
    if encoding not in _PACKED:
        raise Unreachable("packs its answers in a way that was not asked for")
    return Unpacker(limit)


def unpacked(body: bytes, encoding: bytes, limit: int) -> bytes:
    """A whole body. Raises `Unreachable` when it cannot be unpacked, or beyond `limit` bytes."""
    unpack = unpacker(encoding, limit + 1)
    if unpack is None or not body:
        return body
    pieces = [unpack.feed(body)]
    while unpack.pending and sum(map(len, pieces)) <= limit:
        pieces.append(unpack.feed(b""))
    unpack.end()
    if sum(map(len, pieces)) > limit:
        raise Unreachable("sent a body that is too large")
    return b"".join(pieces)

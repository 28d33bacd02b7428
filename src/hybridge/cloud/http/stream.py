"""A response that is read while it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Self

from hybridge.cloud.http.connection import MAX_BODY_BYTES, MAX_WAITING_BYTES, Connection
from hybridge.cloud.http.errors import Unreachable
from hybridge.cloud.http.response import Response, plain
from hybridge.cloud.http.unpack import Unpacker, unpacker


class Stream:
    """The body of a response, piece by piece; leaving its block hangs up if more was to come.

    What reads it raises `Unreachable` or `TooSlow`.
    """

    def __init__(
        self,
        connection: Connection,
        response: Response,
        between_s: float,
        until: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.status = response.status
        self._connection = connection
        self._response = response
        self._between_s = between_s
        self._until = until
        self._loop = loop
        self._unpack: Unpacker | None = None
        self._begun = False
        self._ends = False

    @property
    def content_type(self) -> str:
        """Empty when the server names none."""
        return self._response.header(b"content-type").decode("latin-1")

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name."""
        return plain(self._response.headers)

    async def read(self) -> bytes:
        """All that has come since the last time, at least a byte; nothing at the end."""
        if not self._begun:
            self._begun = True
            self._unpack = unpacker(self._response.header(b"content-encoding"), MAX_WAITING_BYTES)
        if self._unpack is None:
            return await self._next()
        return await self._unpacked(self._unpack)

    async def rest(self) -> bytes:
        """All that is left, at most `MAX_BODY_BYTES`."""
        pieces, size = [], 0
        while piece := await self.read():
            pieces.append(piece)
            size += len(piece)
            if size > MAX_BODY_BYTES:
                raise Unreachable("sent a body that is too large")
        return b"".join(pieces)

    def let_end(self) -> None:
        """Says that the last word was read. Leaving then keeps the connection, if the end of the
        body, which many servers send on its own, comes soon."""
        self._ends = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ends:
            self._connection.let_end()
        else:
            self._connection.release()

    async def _next(self) -> bytes:
        if self._response.pieces:
            return self._connection.take()
        until = min(self._loop.time() + self._between_s, self._until)
        return await self._connection.read(until)

    async def _unpacked(self, unpack: Unpacker) -> bytes:
        while True:
            if unpack.pending:
                piece = unpack.feed(b"")
            elif packed := await self._next():
                piece = unpack.feed(packed)
            else:
                unpack.end()
                return b""
            if piece:
                return piece

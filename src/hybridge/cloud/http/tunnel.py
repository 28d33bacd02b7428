"""The way through a proxy to a server that speaks TLS (CONNECT, RFC 9110, 9.3.6)."""

from __future__ import annotations

import asyncio
from typing import cast

from hybridge.cloud.http.errors import Unreachable
from hybridge.cloud.http.response import Response


class Tunnel(asyncio.Protocol):
    """A connection to a proxy, until the proxy has passed it on."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._response = Response()
        self._over: asyncio.Future[None] = loop.create_future()
        self._failure: Unreachable | None = None
        self._transport: asyncio.Transport | None = None

    async def open(self, request: bytes) -> asyncio.Transport:
        """Sends the CONNECT request. Raises `Unreachable` when the proxy refuses."""
        transport = cast("asyncio.Transport", self._transport)
        transport.write(request)
        await self._over
        if self._failure is not None:
            raise self._failure
        if self._response.status // 100 != 2:
            raise Unreachable(f"cannot be reached: its proxy answers {self._response.status}")
        return transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._response.feed(data)
        except Unreachable as error:
            self._end(Unreachable(f"cannot be reached: its proxy {error}"))
        else:
            if self._response.status:
                self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        failure = Unreachable("cannot be reached: its proxy hung up")
        failure.__cause__ = exc
        self._end(failure)

    def _end(self, failure: Unreachable | None) -> None:
        if not self._over.done():
            self._failure = failure
            self._over.set_result(None)

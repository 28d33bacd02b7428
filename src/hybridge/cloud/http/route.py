"""How a connection to an upstream is made: straight, in TLS, through a proxy."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from hybridge.cloud.http.address import Address
from hybridge.cloud.http.connection import Connection
from hybridge.cloud.http.errors import TooSlow, Unreachable
from hybridge.cloud.http.tunnel import Tunnel


class Route:
    """The way to one upstream. `trust` is needed where either end of it is https."""

    def __init__(
        self, upstream: Address, proxy: Address | None, trust: ssl.SSLContext | None
    ) -> None:
        self._upstream = upstream
        self._proxy = proxy
        self._trust = trust

    @property
    def prefix(self) -> str:
        """What stands before the path on the request line: a proxy needs the whole URL."""
        if self._proxy is None or self._upstream.tls:
            return ""
        return f"http://{self._upstream.authority}"

    @property
    def headers(self) -> list[str]:
        """What every request needs on this way: the proxy's own key, where it reads requests."""
        return [] if self._upstream.tls else self._proxy_headers

    async def connect(self, connection: Connection, limit_s: float) -> None:
        """Connects. Raises `Unreachable` or `TooSlow`; then, or when cancelled, nothing is left."""
        try:
            async with asyncio.timeout(limit_s):
                await self._connect(connection)
        except TimeoutError as error:
            raise TooSlow("no connection in time") from error
        except ssl.SSLCertVerificationError as error:
            why = f"its certificate is not trusted: {error.verify_message}"
            raise Unreachable(why) from error
        except (OSError, UnicodeError) as error:
            raise Unreachable("cannot be reached") from error

    @property
    def _proxy_headers(self) -> list[str]:
        if self._proxy is None or self._proxy.user is None:
            return []
        basic = b64encode(self._proxy.user.encode()).decode("ascii")
        return [f"proxy-authorization: Basic {basic}"]

    async def _connect(self, connection: Connection) -> None:
        if self._proxy is None:
            await self._reach(self._upstream, connection)
        elif not self._upstream.tls:
            await self._reach(self._proxy, connection)
        else:
            tunnel = Tunnel(asyncio.get_running_loop())
            transport = await self._reach(self._proxy, tunnel)
            with _aborted_on_failure(transport):
                await tunnel.open(self._request_to_connect())
            await self._secure(transport, connection, self._upstream)

    async def _reach(self, address: Address, protocol: Connection | Tunnel) -> asyncio.Transport:
        """Connects `protocol` with an address; with TLS, where the address says so.

        A host's addresses are tried one after the other. uvloop cannot race them (RFC 8305), and
        asyncio's race leaves a connection open when it is cancelled (tried with Python 3.11).
        """
        loop = asyncio.get_running_loop()
        first = asyncio.Protocol() if address.tls else protocol
        transport, _ = await loop.create_connection(lambda: first, address.host, address.port)
        return await self._secure(transport, protocol, address) if address.tls else transport

    async def _secure(
        self, transport: asyncio.Transport, protocol: Connection | Tunnel, address: Address
    ) -> asyncio.Transport:
        """Goes on in TLS, on the way to a server as inside a tunnel."""
        with _aborted_on_failure(transport):
            secure = await asyncio.get_running_loop().start_tls(
                transport,
                protocol,
                cast("ssl.SSLContext", self._trust),
                server_hostname=address.host,
            )
        secure = cast("asyncio.Transport", secure)
        protocol.connection_made(secure)  # start_tls does not call it
        return secure

    def _request_to_connect(self) -> bytes:
        target = self._upstream.authority_with_port
        lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}", *self._proxy_headers, "", ""]
        return "\r\n".join(lines).encode("latin-1")


@contextmanager
def _aborted_on_failure(transport: asyncio.Transport) -> Iterator[None]:
    try:
        yield
    except BaseException:
        transport.abort()
        raise

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
from hybridge.cloud.http.errors import Unreachable
from hybridge.cloud.http.race import reach
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
        """Connects. Raises `Unreachable`; then, or when cancelled, nothing is left."""
        try:
            async with asyncio.timeout(limit_s):
                await self._connect(connection)
        except TimeoutError as error:
            raise Unreachable("no connection in time") from error
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
            await self._secure(transport, connection)

    async def _reach(self, address: Address, protocol: Connection | Tunnel) -> asyncio.Transport:
        """Connects `protocol` with an address; with TLS, where the address says so."""
        sock = await reach(address.host, address.port, here=address.loopback)
        trust, name = (self._trust, address.host) if address.tls else (None, None)
        try:
            transport, _ = await asyncio.get_running_loop().create_connection(
                lambda: protocol, sock=sock, ssl=trust, server_hostname=name
            )
        except BaseException:
            sock.close()
            raise
        return transport

    async def _secure(self, transport: asyncio.Transport, connection: Connection) -> None:
        """Goes on in TLS, inside a tunnel to the upstream."""
        with _aborted_on_failure(transport):
            secure = await asyncio.get_running_loop().start_tls(
                transport,
                connection,
                cast("ssl.SSLContext", self._trust),
                server_hostname=self._upstream.host,
            )
        connection.connection_made(cast("asyncio.Transport", secure))  # start_tls does not call it

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

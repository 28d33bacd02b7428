"""Posts to one upstream over connections that are kept, with limits on every kind of waiting."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from math import inf
from typing import Literal, Self

from msgspec import Struct

from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.http import address
from hybridge.cloud.http.address import is_loopback
from hybridge.cloud.http.connection import MAX_BODY_BYTES, Connection
from hybridge.cloud.http.errors import Stale, TooSlow, Unreachable
from hybridge.cloud.http.pool import Pool
from hybridge.cloud.http.proxies import proxy_for
from hybridge.cloud.http.response import Response, plain
from hybridge.cloud.http.route import Route
from hybridge.cloud.http.stream import Stream
from hybridge.cloud.http.trust import system_trust
from hybridge.cloud.http.unpack import unpacked
from hybridge.core.clock import Deadline
from hybridge.core.errors import ConfigError

__all__ = ["Reply", "Stream", "TooSlow", "Transport", "Unreachable", "is_loopback"]

KeyHeader = Literal["authorization", "x-api-key"]
_KEY = re.compile(r"[\x21-\x7e]*")
"""What a header can carry without being cut or quoted."""


class Reply(Struct, frozen=True):
    """One whole HTTP response."""

    status: int
    body: bytes
    _headers: list[tuple[bytes, bytes]]

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name. Copied when asked for, since a good answer's are not looked at."""
        return plain(self._headers)


class Transport:
    """Posts JSON to one upstream. Cancelling what waits for it closes the connection at once.

    A request is sent a second time in one case only: it went out on a connection that had been
    idle, and the server hung up before one byte of the answer had come. Nearly always the server
    had closed the idle connection while the request was on its way, and never read it (RFC 9112,
    9.5). A POST is repeated all the same, as by Go's net/http and nginx: to ask a model changes
    nothing at the server, so that the worst case is one answer that is paid for twice.

    Raises `ConfigError` for a `base_url` or a proxy that cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        timeouts: TimeoutsConfig,
        *,
        key: str | None,
        proxy: str | None,
        key_header: KeyHeader = "authorization",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`key_header` is where the key goes; `headers` are sent with every request."""
        upstream, through = address.upstream(base_url), proxy_for(base_url, proxy)
        tls = upstream.tls or (through is not None and through.tls)
        route = Route(upstream, through, system_trust() if tls else None)
        self._timeouts = timeouts
        self._pool = Pool(route.connect)
        self._prefix = route.prefix + upstream.path
        lines = [*_headers(upstream.authority), *_key_line(key, key_header), *route.headers]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self._headers = "\r\n".join(lines)
        self._heads: dict[str, bytes] = {}

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._pool.close()
        await asyncio.sleep(0)  # the loop lets go of closed sockets in its next turn

    async def post(self, path: str, body: bytes, deadline: Deadline) -> Reply:
        """Sends and reads everything. Raises `Unreachable` or `TooSlow`.

        A whole answer begins when it is complete, so `total_s` is its only limit but the deadline.
        """
        return await self._whole(self._head(path, body), body, self._timeouts.total_s, deadline)

    async def get(self, path: str, deadline: Deadline) -> Reply:
        """The same for GET, within `connect_s`."""
        head = f"GET {self._prefix}{path} HTTP/1.1\r\n{self._headers}\r\n\r\n".encode("latin-1")
        return await self._whole(head, b"", self._timeouts.connect_s, deadline)

    async def stream(self, path: str, body: bytes, deadline: Deadline) -> Stream:
        """Sends, and reads the head. Raises `Unreachable` or `TooSlow`."""
        limits = self._timeouts
        until = self._loop.time() + min(limits.total_s, deadline.remaining_s)
        head = self._head(path, body)
        asked = self._exchange(head, body, limits.first_byte_s, until, stream=True)
        return Stream(*await asked, limits.between_chunks_s, until, self._loop)

    async def _whole(self, head: bytes, body: bytes, limit_s: float, deadline: Deadline) -> Reply:
        until = self._loop.time() + min(limit_s, deadline.remaining_s)
        connection, response = await self._exchange(head, body, inf, until, stream=False)
        content = response.take()
        connection.release()
        content = unpacked(content, response.header(b"content-encoding"), MAX_BODY_BYTES)
        return Reply(response.status, content, response.headers)

    async def _exchange(
        self, head: bytes, body: bytes, limit_s: float, until: float, *, stream: bool
    ) -> tuple[Connection, Response]:
        """`limit_s` counts from when the connection stands."""
        loop = self._loop
        kept = self._pool.take()
        if kept is not None:
            try:
                by = min(loop.time() + limit_s, until)
                return kept, await kept.ask(head, body, by, stream=stream)
            except Stale:
                pass
        connect_s = min(self._timeouts.connect_s, until - loop.time())
        fresh = await self._pool.connect(connect_s)
        by = min(loop.time() + limit_s, until)
        return fresh, await fresh.ask(head, body, by, stream=stream)

    def _head(self, path: str, body: bytes) -> bytes:
        head = self._heads.get(path)
        if head is None:
            lines = f"POST {self._prefix}{path} HTTP/1.1\r\n{self._headers}\r\ncontent-length: "
            head = self._heads[path] = lines.encode("latin-1")
        return b"%b%d\r\n\r\n" % (head, len(body))


def _headers(authority: str) -> list[str]:
    """Those of every request."""
    return [
        f"host: {authority}",
        "user-agent: hybridge",
        "accept-encoding: identity",
        "content-type: application/json",
    ]


def _key_line(key: str | None, header: KeyHeader) -> list[str]:
    if key is None:
        return []
    if not _KEY.fullmatch(key):
        raise ConfigError("an API key has characters that no header can carry")
    return [f"authorization: Bearer {key}" if header == "authorization" else f"{header}: {key}"]

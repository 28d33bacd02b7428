"""HTTP to upstreams: one pooled client a backend, with limits on every kind of waiting."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from pyqwest import (
    Client,
    Headers,
    HTTPTransport,
    Proxy,
    ReadError,
    RemoteProtocolError,
    Response,
    WriteError,
)

from hybridge.cloud.config import TimeoutsConfig
from hybridge.core.clock import Deadline

POOL_IDLE_S = 60.0
"""An idle connection is closed before the 75 s after which common servers close it themselves."""

POOL_IDLE = 256
"""Idle connections kept for one upstream."""
_NO_PROXY = Proxy("http://127.0.0.1:9", no_proxy="127.0.0.0/8,::1,localhost")
"""A proxy for nobody. The system's cannot reach this machine's own servers, and a client without a
proxy of its own would use the system's."""


class Unreachable(Exception):
    """The upstream could not be reached, or hung up."""


class TooSlow(Exception):
    """One of the limits on waiting passed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole HTTP response."""

    status: int
    body: bytes
    _headers: Headers

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name. Copied when asked for, since a good answer's are not looked at."""
        return _plain(self._headers)


class Transport:
    """Posts JSON to one upstream. Cancelling what waits for it closes the connection at once."""

    def __init__(
        self, base_url: str, timeouts: TimeoutsConfig, *, key: str | None, proxy: str | None
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeouts = timeouts
        self._http = _transport(self._base_url, timeouts, proxy)
        self._client = Client(self._http)
        self._headers = Headers([("content-type", "application/json"), ("user-agent", "hybridge")])
        if key is not None:
            self._headers.add("authorization", f"Bearer {key}")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def post(self, path: str, body: bytes, deadline: Deadline) -> Reply:
        """Sends and reads everything. Raises `Unreachable` or `TooSlow`.

        A whole answer begins when it is complete, so `total_s` is its only limit but the deadline.
        """
        return await self._whole("POST", path, body, self._timeouts.total_s, deadline)

    async def get(self, path: str, deadline: Deadline) -> Reply:
        """The same for GET."""
        return await self._whole("GET", path, None, self._timeouts.connect_s, deadline)

    @asynccontextmanager
    async def stream(self, path: str, body: bytes, deadline: Deadline) -> AsyncIterator[Stream]:
        """Sends, and reads the head. Raises `Unreachable` or `TooSlow`."""
        asked = self._client.stream("POST", self._base_url + path, self._headers, body)
        with _translated():
            async with asyncio.timeout(min(self._timeouts.first_byte_s, deadline.remaining_s)):
                response = await asked.__aenter__()
        try:
            yield Stream(response, self._timeouts.between_chunks_s, deadline)
        finally:
            await asked.__aexit__(None, None, None)

    async def _whole(
        self, method: str, path: str, body: bytes | None, limit_s: float, deadline: Deadline
    ) -> Reply:
        with _translated():
            async with asyncio.timeout(min(limit_s, deadline.remaining_s)):
                response = await self._client.execute(
                    method, self._base_url + path, self._headers, body
                )
        return Reply(response.status, response.content, response.headers)


class Stream:
    """The body of a response, piece by piece."""

    def __init__(self, response: Response, between_s: float, deadline: Deadline) -> None:
        self._response = response
        self._between_s = between_s
        self._deadline = deadline
        self.status = response.status
        self.content_type = response.headers.get("content-type", "")

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name."""
        return _plain(self._response.headers)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Each piece as it comes. Raises `Unreachable` or `TooSlow`."""
        content = aiter(self._response.content)
        while True:
            with _translated():
                async with asyncio.timeout(min(self._between_s, self._deadline.remaining_s)):
                    piece = await anext(content, None)
            if piece is None:
                return
            yield bytes(piece)

    async def rest(self) -> bytes:
        """All that is left."""
        return b"".join([piece async for piece in self.pieces()])


class _translated:  # noqa: N801 - used as a statement
    """Turns the client's errors into this module's two."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TimeoutError):
            raise TooSlow("no answer in time") from error
        if isinstance(error, ConnectionError):
            raise Unreachable("cannot be reached") from error
        if isinstance(error, ReadError | WriteError | RemoteProtocolError):
            raise Unreachable("hung up, or does not speak HTTP") from error


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _transport(base_url: str, timeouts: TimeoutsConfig, proxy: str | None) -> HTTPTransport:
    return HTTPTransport(
        tls_include_system_certs=True,
        proxy=_NO_PROXY if proxy is None and is_loopback(base_url) else proxy,
        timeout=timeouts.total_s,
        connect_timeout=timeouts.connect_s,
        pool_idle_timeout=POOL_IDLE_S,
        pool_max_idle_per_host=POOL_IDLE,
        follow_redirects=False,
        enable_otel=False,
    )


def _plain(headers: Headers) -> Mapping[str, str]:
    return {str(name).lower(): value for name, value in headers.items()}

"""HTTP to upstreams: one pooled client a backend, with limits on every kind of waiting."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Self
from urllib.parse import urlsplit

from pyreqwest.client import Client, ClientBuilder
from pyreqwest.exceptions import (
    ConnectError,
    PyreqwestError,
    ReadError,
    RequestTimeoutError,
    WriteError,
)
from pyreqwest.proxy import ProxyBuilder
from pyreqwest.request import RequestBuilder
from pyreqwest.response import Response

from hybridge.cloud.config import TimeoutsConfig
from hybridge.core.clock import Deadline

POOL_IDLE_S = 60.0
"""An idle connection is closed before the 75 s after which common servers close it themselves."""


class Unreachable(Exception):  # noqa: N818 - a fact about the network, classified by the caller
    """The upstream could not be reached, or hung up."""


class TooSlow(Exception):  # noqa: N818
    """One of the limits on waiting passed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole HTTP response."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes


class Transport:
    """Posts JSON to one upstream. Cancelling what waits for it closes the connection at once."""

    def __init__(
        self, base_url: str, timeouts: TimeoutsConfig, *, key: str | None, proxy: str | None
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeouts = timeouts
        self._client = _client(self._base_url, timeouts, proxy)
        self._headers = {"content-type": "application/json"}
        if key is not None:
            self._headers["authorization"] = f"Bearer {key}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def post(self, path: str, body: bytes, deadline: Deadline) -> Reply:
        """Sends and reads everything. Raises `Unreachable` or `TooSlow`."""
        request = self._request("POST", path).body_bytes(body)
        return await self._whole(request, self._timeouts.first_byte_s, deadline)

    async def get(self, path: str, deadline: Deadline) -> Reply:
        """The same for GET."""
        return await self._whole(self._request("GET", path), self._timeouts.connect_s, deadline)

    @asynccontextmanager
    async def stream(self, path: str, body: bytes, deadline: Deadline) -> AsyncIterator[Stream]:
        """Sends, and reads the head. Raises `Unreachable` or `TooSlow`."""
        request = self._request("POST", path).body_bytes(body)
        # Without this limit the client reads 64 KiB ahead before it gives the first chunk.
        streamed = request.streamed_read_buffer_limit(0).build_streamed()
        with _translated():
            async with asyncio.timeout(min(self._timeouts.first_byte_s, deadline.remaining_s)):
                response = await streamed.__aenter__()
        try:
            yield Stream(response, self._timeouts.between_chunks_s, deadline)
        finally:
            await streamed.__aexit__(None, None, None)

    async def _whole(self, request: RequestBuilder, limit_s: float, deadline: Deadline) -> Reply:
        with _translated():
            async with asyncio.timeout(min(limit_s, deadline.remaining_s)):
                response = await request.build().send()
                body = bytes(await response.bytes())
        return Reply(response.status, _headers(response), body)

    def _request(self, method: str, path: str) -> RequestBuilder:
        return self._client.request(method, self._base_url + path).headers(self._headers)


class Stream:
    """The body of a response, piece by piece."""

    def __init__(self, response: Response, between_s: float, deadline: Deadline) -> None:
        self._response = response
        self._between_s = between_s
        self._deadline = deadline
        self.status = response.status
        self.headers = _headers(response)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Each piece as it comes. Raises `Unreachable` or `TooSlow`."""
        reader = self._response.body_reader
        while True:
            with _translated():
                async with asyncio.timeout(min(self._between_s, self._deadline.remaining_s)):
                    piece = await reader.read_chunk()
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
        if isinstance(error, RequestTimeoutError | TimeoutError):
            raise TooSlow("no answer in time") from error
        if isinstance(error, ConnectError):
            raise Unreachable("cannot be reached") from error
        if isinstance(error, ReadError | WriteError):
            raise Unreachable("hung up") from error
        if isinstance(error, PyreqwestError):
            raise Unreachable(f"did not answer as HTTP does ({type(error).__name__})") from error


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _client(base_url: str, timeouts: TimeoutsConfig, proxy: str | None) -> Client:
    builder = (
        ClientBuilder()
        .connect_timeout(timedelta(seconds=timeouts.connect_s))
        .timeout(timedelta(seconds=timeouts.total_s))
        .pool_idle_timeout(timedelta(seconds=POOL_IDLE_S))
        .pool_max_idle_per_host(256)
        .max_connections(None)
        .tcp_nodelay(True)
        .follow_redirects(False)
        .user_agent("hybridge")
    )
    if proxy is not None:
        builder = builder.proxy(ProxyBuilder.all(proxy))
    elif is_loopback(base_url):
        builder = builder.no_proxy()  # the system's proxy cannot reach this machine's own servers
    return builder.build()


def _headers(response: Response) -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}

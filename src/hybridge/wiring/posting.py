"""The one way out for news of the gateway: alerts and traces post through nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from pyqwest import Client, HTTPTransport, Proxy

from hybridge.cloud.transport import is_loopback
from hybridge.telemetry.outbound import Answer, Post

READ_BYTES = 4096
"""How much of an answer is read: enough for a receiver's code."""
CONNECT_TIMEOUT_S = 5.0


def posting() -> Post:
    """What posts. It connects when first used, so that a gateway without news opens nothing."""
    return _Posting().post


class _Posting:
    """Keeps connections. The environment's proxy is asked for all but this machine."""

    def __init__(self) -> None:
        self._clients: dict[bool, asyncio.Task[Client]] = {}
        """Made when first needed, in a thread: it takes half a second."""

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> Answer:
        """See `telemetry.outbound.Post`."""
        async with asyncio.timeout(timeout_s):
            client = await self._client(direct=is_loopback(url))
            async with client.stream("POST", url, headers, body) as response:
                return Answer(response.status, await _beginning(response.content))

    async def _client(self, *, direct: bool) -> Client:
        making = self._clients.get(direct)
        if making is None:
            making = asyncio.create_task(asyncio.to_thread(_client, direct=direct))
            self._clients[direct] = making
        return await asyncio.shield(making)


async def _beginning(content: AsyncIterator[bytes | memoryview | bytearray]) -> bytes:
    read = bytearray()
    async for piece in content:
        read += piece
        if len(read) >= READ_BYTES:
            break
    return bytes(read[:READ_BYTES])


def _client(*, direct: bool) -> Client:
    unused = Proxy("http://127.0.0.1:9", no_proxy="127.0.0.0/8,::1,localhost")
    return Client(
        HTTPTransport(
            tls_include_system_certs=True,
            proxy=unused if direct else None,
            connect_timeout=CONNECT_TIMEOUT_S,
            follow_redirects=False,
            enable_otel=False,
        )
    )

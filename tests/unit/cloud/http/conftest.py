"""Both event loops, and servers that do what `Upstream` does not."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
import trustme

from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.transport import Transport
from hybridge.core.clock import Deadline, SystemClock
from hybridge.testing.upstream import Upstream

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
CLOCK = SystemClock()


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request):
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
def soon() -> Callable[..., Deadline]:
    return lambda seconds=20.0: Deadline.after(seconds, CLOCK)


@pytest.fixture
def opened() -> Callable[..., AbstractAsyncContextManager[Transport]]:
    """`async with opened(url, proxy=…, key=…, connect_s=…) as transport`."""

    @asynccontextmanager
    async def start(
        url: str, *, proxy: str | None = None, key: str | None = None, **limits: float
    ) -> AsyncIterator[Transport]:
        async with Transport(url, TimeoutsConfig(**limits), key=key, proxy=proxy) as transport:
            yield transport

    return start


@pytest.fixture
def serving() -> Callable[..., AbstractAsyncContextManager[int]]:
    """`async with serving(handler, ssl=…) as port`; connections are closed with it."""

    @asynccontextmanager
    async def start(
        handler: Handler, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
    ) -> AsyncIterator[int]:
        tasks = set()

        async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                with suppress(OSError, asyncio.IncompleteReadError):
                    await handler(reader, writer)
            finally:
                writer.close()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.add(asyncio.ensure_future(guarded(reader, writer)))

        server = await asyncio.start_server(accept, host, 0, ssl=tls)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return start


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority, monkeypatch, tmp_path) -> None:
    """The system trusts the throw-away authority, and no other."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


@pytest.fixture
def tls(authority, serving) -> Callable[..., AbstractAsyncContextManager[int]]:
    """`async with tls(upstream, "name", …) as port`: the upstream behind TLS, under these names."""

    def start(upstream: Upstream, *names: str) -> AbstractAsyncContextManager[int]:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.set_alpn_protocols(["h2", "http/1.1"])
        authority.issue_cert(*names).configure_cert(context)
        return serving(upstream._serve, tls=context)

    return start


@dataclass
class Proxy:
    """An HTTP proxy that leads every CONNECT to one port of this machine, or refuses it."""

    port: int
    answer: bytes = b"HTTP/1.1 200 Connected\r\nvia: test\r\n\r\n"
    heads: list[str] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(self.answer)
        if b" 200 " not in self.answer:
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            await asyncio.gather(_relay(reader, far_writer), _relay(far_reader, writer))
        finally:
            far_writer.close()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


@pytest.fixture
def make_proxy() -> type[Proxy]:
    return Proxy

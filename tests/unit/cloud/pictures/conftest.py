"""Both event loops, a host of pictures, and what fetches from it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import pytest
import trustme
from tests.unit.cloud.pictures.scene import Host, Resolver, Say

from hybridge.cloud.pictures.config import PicturesConfig
from hybridge.cloud.pictures.pictures import Pictures


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request):
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
def host() -> Callable[..., AbstractAsyncContextManager[Host]]:
    """`async with host({path: what it says}, tls=…) as it`."""

    @asynccontextmanager
    async def start(
        says: Mapping[str, Say] | None = None, tls: ssl.SSLContext | None = None
    ) -> AsyncIterator[Host]:
        it, tasks, writers = Host(dict(says or {})), set(), set()

        async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                with suppress(OSError, asyncio.IncompleteReadError):
                    await it.serve(reader, writer)
            finally:
                writer.close()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.add(writer)
            tasks.add(asyncio.ensure_future(guarded(reader, writer)))

        server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
        it.port = server.sockets[0].getsockname()[1]
        try:
            yield it
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for writer in writers:  # a task that was cancelled before it began closed nothing
                writer.close()

    return start


@pytest.fixture
def resolver() -> Callable[..., Resolver]:
    """`resolver(name=[addresses], …)`; a list of lists answers differently each time."""

    def make(answers: Mapping[str, Any]) -> Resolver:
        return Resolver({
            name: given if given and not isinstance(given[0], str) else [given]
            for name, given in answers.items()
        })  # fmt: skip

    return make


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def trust(authority) -> ssl.SSLContext:
    """Believes the throw-away authority, and no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    return context


@pytest.fixture
def certified(authority) -> Callable[..., ssl.SSLContext]:
    """What a server under these names needs."""

    def issue(*names: str, by: trustme.CA | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        (by or authority).issue_cert(*names).configure_cert(context)
        return context

    return issue


@pytest.fixture
def pictures(trust) -> Callable[..., Pictures]:
    """`pictures(resolver, allowed=…, …)`; by default loopback is allowed."""

    def make(resolve: Any = None, **config: Any) -> Pictures:
        made = PicturesConfig(**{"allowed": ("127.0.0.1",), **config})
        return Pictures(made, trust) if resolve is None else Pictures(made, trust, resolve)

    return make

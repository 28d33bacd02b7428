"""Where a gateway can be reached: IPv4, IPv6, or both."""

from __future__ import annotations

import asyncio

import pytest

from hybridge.testing.backend import whole
from hybridge.testing.gateway import ScriptedGateway

pytestmark = pytest.mark.anyio


async def answers(host: str, port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.write(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    said = await reader.read()
    writer.close()
    return said.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("host", "reached"),
    [
        ("127.0.0.1", {"127.0.0.1"}),
        ("::1", {"::1"}),
        ("::", {"127.0.0.1", "::1"}),
        ("0.0.0.0", {"127.0.0.1"}),
    ],
)
async def test_it_listens_where_it_is_told(opened, host, reached):
    async with opened(gateway=ScriptedGateway(whole("Hi")), host=host) as door:
        port = door.listener.port
        found = {address for address in ("127.0.0.1", "::1") if await answers(address, port)}
        assert door.listener.url.startswith(f"http://{f'[{host}]' if ':' in host else host}:")
    others = {address for address in found if await answers(address, port)}
    assert found - others == reached - others, "another program may have the port elsewhere"

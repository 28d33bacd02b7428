"""TLS, and the ways through proxies."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode

import pytest

from hybridge.cloud.http.proxies import proxy_for
from hybridge.cloud.transport import Unreachable
from hybridge.core.errors import ConfigError
from hybridge.testing.replies import says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def no_system_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def asks(soon):
    """A whole answer and a stream, one after the other; their statuses."""

    async def both(transport):
        reply = await transport.post("/chat/completions", b'{"model": "m"}', soon())
        asked = b'{"model": "m", "stream": true}'
        with await transport.stream("/chat/completions", asked, soon()) as stream:
            assert b"[DONE]" in await stream.rest()
        return reply.status, stream.status

    return both


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_tls_with_who_is_trusted(trusted, tls, opened, asks, host):
    async with Upstream() as up, tls(up, host) as port:
        async with opened(f"https://{host}:{port}/v1", key=KEY) as transport:
            for _ in range(2):
                assert await asks(transport) == (200, 200)
    assert up.posts[0].headers["host"] == f"{host}:{port}"
    assert up.posts[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_large_body_in_tls(trusted, tls, opened, soon):
    large = b'{"x": "%b"}' % (b"x" * (4 << 20))
    async with Upstream(says()) as up, tls(up, "127.0.0.1") as port:
        async with opened(f"https://127.0.0.1:{port}/v1") as transport:
            for _ in range(2):
                await transport.post("/x", large, soon())
    assert up.posts[1].body == large


async def test_who_is_not_trusted_hears_nothing(tls, opened, asks):
    async with Upstream() as up, tls(up, "127.0.0.1") as port:
        async with opened(f"https://127.0.0.1:{port}/v1", key=KEY) as transport:
            with pytest.raises(Unreachable, match="certificate is not trusted") as raised:
                await asks(transport)
    assert up.requests == []
    assert KEY not in str(raised.value)


async def test_a_certificate_for_somebody_else(trusted, tls, opened, asks):
    async with Upstream() as up, tls(up, "models.invalid") as port:
        async with opened(f"https://127.0.0.1:{port}/v1") as transport:
            with pytest.raises(Unreachable, match="certificate"):
                await asks(transport)
    assert up.requests == []


async def test_a_server_without_tls(opened, asks, serving):
    async def answer(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await reader.read()

    async with serving(answer) as port, opened(f"https://127.0.0.1:{port}") as transport:
        with pytest.raises(Unreachable):
            await asks(transport)


async def test_tls_that_breaks_off(trusted, authority, serving, opened, asks):
    """A body without a length ends with the connection, in TLS too."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[DONE]")

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with serving(answer, tls=context) as port:
        async with opened(f"https://127.0.0.1:{port}/v1") as transport:
            assert await asks(transport) == (200, 200)


@pytest.mark.parametrize("own", [True, False], ids=["own", "system's"])
async def test_tls_through_a_proxy(
    trusted, tls, opened, asks, serving, make_proxy, monkeypatch, own
):
    async with Upstream() as up, tls(up, "models.invalid") as port:
        proxy = make_proxy(port)
        async with serving(proxy.handle) as proxy_port:
            url = f"http://me:s%40cret@127.0.0.1:{proxy_port}"
            monkeypatch.setenv("https_proxy", "http://127.0.0.1:9" if own else url)
            way = url if own else None
            async with opened("https://models.invalid/v1", key=KEY, proxy=way) as transport:
                assert await asks(transport) == (200, 200)
    lines = proxy.heads[0].split("\r\n")
    assert lines[:2] == ["CONNECT models.invalid:443 HTTP/1.1", "host: models.invalid:443"]
    assert lines[2] == f"proxy-authorization: Basic {b64encode(b'me:s@cret').decode()}"
    assert KEY not in proxy.heads[0]
    assert "proxy-authorization" not in up.posts[0].headers
    assert up.posts[0].headers["host"] == "models.invalid"
    assert len(proxy.heads) == 1


async def test_tls_through_a_proxy_that_speaks_tls(
    trusted, authority, tls, opened, asks, serving, make_proxy
):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with Upstream() as up, tls(up, "models.invalid") as port:
        async with serving(make_proxy(port).handle, tls=context) as proxy_port:
            way = f"https://127.0.0.1:{proxy_port}"
            async with opened("https://models.invalid/v1", proxy=way) as transport:
                assert await asks(transport) == (200, 200)


async def test_plain_through_a_proxy_that_speaks_tls(trusted, tls, opened, asks):
    async with Upstream() as proxy, tls(proxy, "127.0.0.1") as port:
        way = f"https://127.0.0.1:{port}"
        async with opened("http://models.invalid:8000/v1", proxy=way) as transport:
            assert await asks(transport) == (200, 200)
    assert proxy.posts[0].target == "http://models.invalid:8000/v1/chat/completions"


async def test_plain_through_a_proxy_with_a_password(opened, asks):
    async with Upstream() as proxy:
        way = proxy.root_url.replace("http://", "http://me:secret@")
        async with opened("http://models.invalid/v1", proxy=way) as transport:
            assert await asks(transport) == (200, 200)
    headers = proxy.posts[0].headers
    assert headers["proxy-authorization"] == f"Basic {b64encode(b'me:secret').decode()}"
    assert headers["host"] == "models.invalid"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 407 Who\r\ncontent-length: 0\r\n\r\n", "407"),
        (b"HTTP/1.1 502 Bad\r\ncontent-length: 9\r\n\r\n", "502"),
        (b"SSH-2.0-what\r\n\r\n", "HTTP"),
        (b"", "hung up"),
    ],
)
async def test_a_proxy_that_refuses(opened, asks, serving, make_proxy, answer, why):
    proxy = make_proxy(0, answer)
    async with serving(proxy.handle) as port:
        way = f"http://me:secret@127.0.0.1:{port}"
        async with opened("https://models.invalid/v1", proxy=way) as transport:
            with pytest.raises(Unreachable, match=why) as raised:
                await asks(transport)
    assert "secret" not in str(raised.value)


async def test_cancelling_while_a_proxy_thinks_hangs_up(opened, asks, serving):
    here, gone = asyncio.Event(), asyncio.Event()

    async def think(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        here.set()
        await reader.read()
        gone.set()

    async with serving(think) as port:
        way = f"http://127.0.0.1:{port}"
        async with opened("https://models.invalid/v1", proxy=way) as transport:
            asking = asyncio.ensure_future(asks(transport))
            await asyncio.wait_for(here.wait(), 5)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await asyncio.wait_for(gone.wait(), 5)


def test_which_proxy(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://a:1")
    monkeypatch.setenv("all_proxy", "b:2")
    monkeypatch.setenv("no_proxy", "near.invalid,.inside.invalid")
    chosen = {
        url: (found := proxy_for(url, None)) and found.authority
        for url in (
            "https://x.invalid", "http://x.invalid", "https://near.invalid:8443",
            "http://a.inside.invalid", "https://127.0.0.1", "http://[::1]:80", "http://localhost",
        )
    }  # fmt: skip
    assert list(chosen.values()) == ["a:1", "b:2", None, None, None, None, None]
    assert proxy_for("http://127.0.0.1", "http://c:3").authority == "c:3"


@pytest.mark.parametrize(
    "proxy", ["socks5://127.0.0.1:1080", "http://", "http://me:secret@127.0.0.1:port", "ftp://a:1"]
)
def test_what_is_no_http_proxy_is_said_at_once(proxy):
    with pytest.raises(ConfigError, match="proxy") as raised:
        proxy_for("https://models.invalid", proxy)
    assert "secret" not in str(raised.value)

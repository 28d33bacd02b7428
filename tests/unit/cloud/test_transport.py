"""HTTP to upstreams: real connections on loopback."""

from __future__ import annotations

import asyncio
import gzip
import json
from contextlib import asynccontextmanager

import pytest

from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.transport import TooSlow, Transport, Unreachable, is_loopback
from hybridge.core.clock import Deadline, SystemClock
from hybridge.testing.replies import END, Cut, Reply, answers, cut, hangs, says, slowly
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
CLOCK = SystemClock()
DEAD = "http://127.0.0.1:9"


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request):
    return "asyncio", {"use_uvloop": request.param}


def soon(seconds: float = 20.0) -> Deadline:
    return Deadline.after(seconds, CLOCK)


@asynccontextmanager
async def opened(url: str, *, proxy: str | None = None, key: str | None = None, **limits: float):
    async with Transport(url, TimeoutsConfig(**limits), key=key, proxy=proxy) as transport:
        yield transport


async def streamed(transport: Transport, deadline: Deadline | None = None) -> bytes:
    asked = b'{"model": "m", "stream": true}'
    with await transport.stream("/chat/completions", asked, deadline or soon()) as stream:
        return await stream.rest()


async def posted(transport: Transport, deadline: Deadline | None = None):
    return await transport.post("/chat/completions", b'{"model": "m"}', deadline or soon())


ASK = pytest.mark.parametrize("ask", [posted, streamed])


@ASK
async def test_connections_are_used_again(ask):
    async with Upstream() as up, opened(up.base_url, key="k") as transport:
        for _ in range(10):
            await ask(transport)
    assert up.connections < 10  # one may still be on its way back to the pool
    assert [r.headers["authorization"] for r in up.posts] == ["Bearer k"] * 10
    assert up.posts[0].target == "/v1/chat/completions"


async def test_without_a_key_none_is_sent():
    async with Upstream() as up, opened(up.base_url + "/") as transport:
        reply = await posted(transport)
    assert "authorization" not in up.posts[0].headers
    assert reply.headers["content-type"] == "application/json"
    assert up.posts[0].target == "/v1/chat/completions"


@ASK
async def test_an_idle_connection_that_was_closed_is_replaced(ask):
    async with Upstream() as up, opened(up.base_url) as transport:
        for _ in range(3):
            await ask(transport)
            up.drop_connections()
            await asyncio.sleep(0.05)  # the close has to arrive before it can be known
        await ask(transport)
    assert len(up.posts) == up.connections == 4


def half(_):
    """A body that never gets to its end."""
    yield b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf"
    yield float("inf")


def ended_by(end: Cut) -> Reply:
    return lambda _: iter([end])


@ASK
@pytest.mark.parametrize(
    "reply",
    [
        ended_by(Cut.RESET),
        ended_by(Cut.CLOSE),
        lambda _: iter([b"this is no HTTP\r\n\r\n"]),
        lambda _: iter([b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", Cut.CLOSE]),
        lambda _: iter(
            [b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd"]
        ),
    ],
)
async def test_who_hangs_up_is_unreachable_and_is_not_asked_again(ask, reply):
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        with pytest.raises(Unreachable):
            await ask(transport)
    assert len(up.posts) == 1


@pytest.mark.parametrize("end", list(Cut))
async def test_a_stream_that_breaks_gives_what_had_come(end):
    async with Upstream(cut(says(), after=1, end=end)) as up, opened(up.base_url) as transport:
        with await transport.stream("/x", b'{"stream": true}', soon()) as stream:
            got = await stream.read()
            while b"Hello" not in got:
                got += await stream.read()
            with pytest.raises(Unreachable):
                await stream.read()


@ASK
async def test_nobody_listens(ask):
    async with opened(DEAD) as transport:
        with pytest.raises(Unreachable):
            await ask(transport)


@ASK
@pytest.mark.parametrize("reply", [hangs(), slowly(says(), first_s=30.0)])
async def test_the_deadline_ends_it_and_the_upstream_sees_it(ask, reply):
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        with pytest.raises(TooSlow):
            await ask(transport, soon(0.2))
        await asyncio.wait_for(up.posts[0].gone.wait(), 5)


@pytest.mark.parametrize(
    ("limit", "reply"),
    [
        ("first_byte_s", hangs()),
        ("between_chunks_s", cut(says(), after=1, end=float("inf"))),
        ("total_s", slowly(says("a b c d e f g h"), between_s=0.15)),
    ],
)
async def test_each_limit_of_a_stream(limit, reply):
    async with Upstream(reply) as up, opened(up.base_url, **{limit: 0.4}) as transport:
        with pytest.raises(TooSlow):
            await streamed(transport)
        await asyncio.wait_for(up.posts[0].gone.wait(), 5)


async def test_a_whole_answer_may_take_longer_than_a_streams_first_byte():
    slow = slowly(says(), first_s=0.3)
    async with Upstream(slow) as up, opened(up.base_url, first_byte_s=0.1) as transport:
        assert (await posted(transport)).status == 200
    async with Upstream(slow) as up, opened(up.base_url, total_s=0.1) as transport:
        with pytest.raises(TooSlow):
            await posted(transport)


@ASK
@pytest.mark.parametrize("reply", [hangs(), half])
async def test_cancelling_hangs_up_at_once(ask, reply):
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        asking = asyncio.ensure_future(ask(transport))
        while not up.posts:
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait_for(up.posts[0].gone.wait(), 5)
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_leaving_a_stream_early_hangs_up():
    reply = cut(says(), after=2, end=float("inf"))
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        with await transport.stream("/x", b'{"stream": true}', soon()) as stream:
            await stream.read()
        await asyncio.wait_for(up.posts[0].gone.wait(), 5)


async def test_pieces_come_as_they_are_sent():
    """The second chunk is sent only once the first has been read."""
    read = asyncio.Event()

    def reply(received):
        yield from cut(says(), after=1, end=0.0)(received)
        while not read.is_set():
            yield 0.01
        yield END

    async with Upstream(reply) as up, opened(up.base_url) as transport:
        with await transport.stream("/x", b'{"stream": true}', soon()) as stream:
            first = await stream.read()
            read.set()
            rest = await stream.rest()
    assert b"assistant" in first
    assert b"[DONE]" not in first + rest


@ASK
async def test_a_redirect_is_not_followed(ask):
    async with Upstream() as other:
        away = answers({}, 307, {"location": f"{other.base_url}/chat/completions"})
        async with Upstream(away) as up, opened(up.base_url) as transport:
            await ask(transport)
    assert other.requests == []


async def test_a_compressed_answer_is_unpacked():
    packed = gzip.compress(json.dumps({"a": "你好"}).encode())
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed)
    async with Upstream(lambda _: iter([head + packed])) as up, opened(up.base_url) as transport:
        assert json.loads((await posted(transport)).body) == {"a": "你好"}


@pytest.fixture
def dead_system_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, DEAD)
        monkeypatch.setenv(name.lower(), DEAD)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_loopback_never_goes_through_the_systems_proxy(dead_system_proxy, host):
    async with Upstream(host=host) as up, opened(up.base_url) as transport:
        assert (await posted(transport)).status == 200


async def test_localhost_that_listens_on_ipv4_only():
    async with Upstream() as up:
        url = up.base_url.replace("127.0.0.1", "localhost")
        async with opened(url) as transport:
            assert (await posted(transport)).status == 200


async def test_others_go_through_the_systems_proxy(monkeypatch):
    async with Upstream() as proxy:
        monkeypatch.setenv("http_proxy", proxy.root_url)
        for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        async with opened("http://models.invalid/v1") as transport:
            await posted(transport)
    assert proxy.posts[0].target == "http://models.invalid/v1/chat/completions"


async def test_a_backends_own_proxy_outweighs_the_systems(dead_system_proxy):
    async with (
        Upstream() as proxy,
        opened("http://models.invalid/v1", proxy=proxy.root_url) as transport,
    ):
        await posted(transport)
    assert proxy.posts[0].target == "http://models.invalid/v1/chat/completions"


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost:1", True),
        ("http://model.localhost", True),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost.example.com", False),
        ("http://10.0.0.1", False),
        ("http://0.0.0.0", False),
        ("https://api.example.com", False),
        ("", False),
    ],
)
def test_what_is_this_machine(url, here):
    assert is_loopback(url) is here

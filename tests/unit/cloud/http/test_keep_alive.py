"""Which connections are used again, and when a request is sent a second time."""

from __future__ import annotations

import asyncio

import pytest

from hybridge.cloud.http import address, connection
from hybridge.cloud.http.pool import Pool
from hybridge.cloud.http.route import Route
from hybridge.cloud.transport import Unreachable
from hybridge.testing.replies import END, Cut, cut, framed, hangs, says
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def sends(*steps):
    return lambda _: iter(steps)


async def eventually(true):
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0.01)


@pytest.fixture
def asks(soon):
    """Asks for a whole answer, or a stream to its end."""

    async def whole(transport):
        return (await transport.post("/x", b"{}", soon())).body

    async def stream(transport):
        with await transport.stream("/x", b"{}", soon()) as stream:
            return await stream.rest()

    return {"whole": whole, "stream": stream}


BOTH = pytest.mark.parametrize("how", ["whole", "stream"])


@BOTH
async def test_one_connection_is_enough_for_one_after_the_other(opened, asks, how):
    async with Upstream(sends(WHOLE)) as up, opened(up.base_url) as transport:
        for _ in range(5):
            assert await asks[how](transport) == b"ok"
    assert up.connections == 1


async def test_as_many_connections_as_questions_at_once_and_no_more(opened, asks):
    async with Upstream(sends(0.05, WHOLE)) as up, opened(up.base_url) as transport:
        for _ in range(3):
            await asyncio.gather(*(asks["whole"](transport) for _ in range(8)))
    assert up.connections == 8


@BOTH
@pytest.mark.parametrize("end", list(Cut))
async def test_who_hangs_up_on_an_idle_connection_is_asked_once_more(opened, asks, how, end):
    replies = sends(WHOLE), sends(end), sends(WHOLE)
    async with Upstream(*replies) as up, opened(up.base_url) as transport:
        assert [await asks[how](transport) for _ in range(2)] == [b"ok", b"ok"]
    assert (len(up.posts), up.connections) == (3, 2)


@pytest.fixture
def fails_at_last(opened, asks):
    """Asks until one question fails; the number of questions sent, and of connections."""

    async def play(how, *replies):
        async with Upstream(sends(WHOLE), *replies) as up, opened(up.base_url) as transport:
            await asks[how](transport)
            with pytest.raises(Unreachable):
                await asks[how](transport)
        return len(up.posts), up.connections

    return play


@BOTH
async def test_but_not_twice_more(fails_at_last, how):
    assert await fails_at_last(how, sends(Cut.CLOSE), sends(Cut.CLOSE)) == (3, 2)


@BOTH
async def test_nor_when_the_server_has_had_time_to_read_it(fails_at_last, how, monkeypatch):
    monkeypatch.setattr(connection, "RACE_S", 0.05)
    assert await fails_at_last(how, sends(0.2, Cut.CLOSE)) == (2, 1)


@BOTH
@pytest.mark.parametrize("said", [b"H", b"HTTP/1.1 100 Continue\r\n\r\n", WHOLE[:-1]])
async def test_nor_once_a_byte_has_come(fails_at_last, how, said):
    assert await fails_at_last(how, sends(said, Cut.CLOSE)) == (2, 1)


@BOTH
@pytest.mark.parametrize(
    "reply",
    [
        sends(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"),
        sends(b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok"),
        sends(WHOLE + b"garbage"),
        sends(WHOLE + WHOLE),
        sends(WHOLE, 0.0, WHOLE),
    ],
    ids=["close", "http/1.0", "garbage", "another answer", "another answer later"],
)
async def test_what_does_not_end_well_is_not_used_again(opened, asks, how, reply):
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        for _ in range(3):
            assert await asks[how](transport) == b"ok"
            await eventually(lambda: not transport._pool._idle)
    assert up.connections == 3


@BOTH
async def test_a_body_without_a_length_ends_with_the_connection(opened, asks, how):
    reply = sends(b"HTTP/1.1 200 OK\r\n\r\n", b"one ", 0.01, b"two", Cut.CLOSE)
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        assert [await asks[how](transport) for _ in range(2)] == [b"one two"] * 2
    assert (len(up.posts), up.connections) == (2, 2)


@BOTH
async def test_a_body_without_a_length_that_is_torn_off(opened, asks, how):
    reply = sends(b"HTTP/1.1 200 OK\r\n\r\n", b"one ", 0.05, Cut.RESET)
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        with pytest.raises(Unreachable):
            await asks[how](transport)


@BOTH
@pytest.mark.parametrize("status", [100, 102, 103])
async def test_interim_answers_are_passed_over(opened, asks, how, status):
    interim = b"HTTP/1.1 %d Wait\r\nlink: </a>\r\n\r\n" % status
    reply = sends(interim, 0.01, interim + interim + WHOLE)
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        assert [await asks[how](transport) for _ in range(2)] == [b"ok"] * 2
    assert up.connections == 1


@BOTH
@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nx: " + b"x" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 100 OK\r\n\r\n" * 4_000,
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nok",
        HEAD + b"zz\r\n",
    ],
    ids=["101", "bare 101", "endless head", "long head", "endless 100", "two lengths", "no chunk"],
)
async def test_what_is_no_answer_is_hung_up_on(opened, asks, how, said):
    async with Upstream(sends(said, float("inf"))) as up, opened(up.base_url) as transport:
        with pytest.raises(Unreachable):
            await asks[how](transport)
        await asyncio.wait_for(up.posts[0].gone.wait(), 5)


async def test_a_stream_whose_end_comes_soon_keeps_its_connection(opened, soon):
    last = framed(b"data: [DONE]\n\n")
    async with Upstream(sends(HEAD + last, 0.05, END)) as up, opened(up.base_url) as transport:
        for _ in range(3):
            with await transport.stream("/x", b"{}", soon()) as stream:
                assert b"[DONE]" in await stream.read()
                stream.let_end()
            await eventually(lambda: transport._pool._idle)
    assert up.connections == 1


async def test_a_stream_whose_end_does_not_come_is_hung_up_on(opened, soon):
    reply = hangs(cut(says(), after=1, end=0.0))
    async with Upstream(reply) as up, opened(up.base_url) as transport:
        with await transport.stream("/x", b'{"stream": true}', soon()) as stream:
            await stream.read()
            stream.let_end()
        await asyncio.wait_for(up.posts[0].gone.wait(), 5)


async def test_leaving_a_stream_that_has_all_come_keeps_its_connection(opened, soon):
    async with Upstream(sends(WHOLE)) as up, opened(up.base_url) as transport:
        for _ in range(3):
            with await transport.stream("/x", b"{}", soon()):
                await asyncio.sleep(0.05)
    assert up.connections == 1


async def test_closing_hangs_up_everywhere(opened, asks):
    async with Upstream(sends(WHOLE), hangs()) as up:
        async with opened(up.base_url) as transport:
            await asks["whole"](transport)
            asking = [asyncio.ensure_future(asks[how](transport)) for how in asks]
            await eventually(lambda: len(up.posts) == 3)
        for one in asking:
            with pytest.raises(Unreachable):
                await one
        for received in up.posts[1:]:
            await asyncio.wait_for(received.gone.wait(), 5)
        await eventually(lambda: not up._serving)


async def used(pool, until):
    """A connection after one exchange."""
    connection = pool.take() or await pool.connect(5.0)
    await connection.ask(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", b"", until, stream=False)
    return connection


async def test_the_idle_are_closed_in_time_and_are_not_too_many():
    now = asyncio.get_running_loop().time()
    async with Upstream(on_get=sends(WHOLE)) as up:
        pool = Pool(Route(address.upstream(up.root_url), None, None).connect, idle_s=0.3, idle=3)
        connections = [await used(pool, now + 5) for _ in range(5)]
        for connection in connections:
            connection.release()
        assert [connection.alive for connection in connections] == [False] * 2 + [True] * 3
        assert pool.take() is connections[-1]
        await eventually(lambda: not up._serving or not connections[2].alive)
        assert connections[-1].alive  # it is in use
        connections[-1].release()
        await eventually(lambda: not any(connection.alive for connection in connections))
        assert pool.take() is None
        assert pool._timer is None
        pool.close()

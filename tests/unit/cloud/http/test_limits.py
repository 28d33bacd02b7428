"""What is large, slow or cancelled."""

from __future__ import annotations

import asyncio
import gc

import pytest

from hybridge.cloud.http import connection as connections
from hybridge.cloud.http.alarm import Alarm
from hybridge.cloud.http.connection import MAX_WAITING_BYTES
from hybridge.cloud.http.response import Response
from hybridge.cloud.transport import TooSlow, Unreachable
from hybridge.testing.replies import Cut, framed, hangs
from hybridge.testing.upstream import Upstream

pytestmark = pytest.mark.anyio
LARGE = b"x" * (16 << 20)
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.fixture
def asks(soon):
    async def whole(transport, body=b"{}", deadline=None):
        reply = await transport.post("/x", body, deadline or soon())
        return reply.status, reply.body

    async def stream(transport, body=b"{}", deadline=None):
        with await transport.stream("/x", body, deadline or soon()) as stream:
            return stream.status, await stream.rest()

    return {"whole": whole, "stream": stream}


BOTH = pytest.mark.parametrize("how", ["whole", "stream"])


@BOTH
async def test_a_large_body_goes_out_whole(opened, asks, how):
    async with Upstream(lambda _: iter([b"HTTP/1.1 204 No\r\n\r\n"])) as up:
        async with opened(up.base_url) as transport:
            for _ in range(2):
                assert await asks[how](transport, LARGE) == (204, b"")
    assert [received.body == LARGE for received in up.posts] == [True, True]
    assert up.connections == 1


@BOTH
async def test_a_large_body_that_is_refused_is_not_sent_to_its_end(opened, serving, asks, how):
    """The server reads only the head, and says at length why."""
    why = b"big" * 200_000
    gone = asyncio.Event()

    async def refuse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: %d\r\n\r\n" % len(why) + why)
        await asyncio.sleep(0.1)
        while await reader.read(1 << 20):
            pass
        gone.set()

    async with serving(refuse) as port, opened(f"http://127.0.0.1:{port}") as transport:
        for _ in range(2):
            gone.clear()
            assert await asks[how](transport, LARGE) == (413, why)
            await asyncio.wait_for(gone.wait(), 5)


@BOTH
async def test_a_server_that_does_not_read_is_too_slow(opened, serving, asks, soon, how):
    async def ignore(reader, writer):
        await asyncio.Event().wait()

    async with serving(ignore) as port, opened(f"http://127.0.0.1:{port}") as transport:
        with pytest.raises(TooSlow):
            await asks[how](transport, LARGE, soon(0.3))


@BOTH
async def test_a_server_that_hangs_up_on_a_large_body(opened, serving, asks, how):
    async def hang_up(reader, writer):
        await reader.read(1)
        writer.transport.abort()

    async with serving(hang_up) as port, opened(f"http://127.0.0.1:{port}") as transport:
        with pytest.raises(Unreachable):
            await asks[how](transport, LARGE)


async def test_a_slow_reader_holds_the_stream_back(opened, serving, soon):
    sent = 0

    async def flood(reader, writer):
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED)
        for _ in range(len(LARGE) // 65536 * 2):
            writer.write(framed(LARGE[:65536]))
            await writer.drain()
            sent += 65536
        writer.write(b"0\r\n\r\n")

    async with serving(flood) as port, opened(f"http://127.0.0.1:{port}") as transport:
        with await transport.stream("/x", b"{}", soon()) as stream:
            await asyncio.sleep(0.3)
            assert sent < 2 * len(LARGE)
            size = 0
            while piece := await stream.read():
                assert len(piece) <= MAX_WAITING_BYTES + (256 << 10)  # and one read of the socket
                size += len(piece)
        assert size == 2 * len(LARGE)
        await transport.post("/y", b"{}", soon())


@BOTH
async def test_a_whole_body_has_a_limit(opened, monkeypatch, asks, how):
    monkeypatch.setattr(connections, "MAX_BODY_BYTES", 1000)
    monkeypatch.setattr("hybridge.cloud.http.stream.MAX_BODY_BYTES", 1000)
    async with Upstream(lambda _: iter([CHUNKED, *[framed(b"x" * 600)] * 2, float("inf")])) as up:
        async with opened(up.base_url) as transport:
            with pytest.raises(Unreachable, match="too large"):
                await asks[how](transport)
            await asyncio.wait_for(up.posts[0].gone.wait(), 5)


@BOTH
async def test_a_wait_for_the_connection_has_its_own_limit(opened, serving, asks, how):
    """The server accepts, and never begins with TLS."""
    gone = asyncio.Event()

    async def ignore(reader, writer):
        while await reader.read(1000):
            pass
        gone.set()

    async with serving(ignore) as port:
        async with opened(f"https://127.0.0.1:{port}", connect_s=0.2) as transport:
            with pytest.raises(Unreachable):
                await asks[how](transport)
            await asyncio.wait_for(gone.wait(), 5)


@BOTH
async def test_cancelling_while_it_connects_hangs_up(opened, serving, asks, how):
    here, gone = asyncio.Event(), asyncio.Event()

    async def ignore(reader, writer):
        here.set()
        while await reader.read(1000):
            pass
        gone.set()

    async with serving(ignore) as port, opened(f"https://127.0.0.1:{port}") as transport:
        asking = asyncio.ensure_future(asks[how](transport))
        await asyncio.wait_for(here.wait(), 5)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(gone.wait(), 5)


@BOTH
async def test_cancelling_on_a_kept_connection_hangs_up(opened, asks, how):
    ok = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    async with Upstream(lambda _: iter([ok]), hangs()) as up, opened(up.base_url) as transport:
        await asks[how](transport)
        asking = asyncio.ensure_future(asks[how](transport))
        while len(up.posts) < 2:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait_for(up.posts[1].gone.wait(), 1)
    assert up.connections == 1


async def test_a_body_without_a_length_is_not_complete_because_it_is_too_slow(opened, soon):
    steps = [b"HTTP/1.1 200 OK\r\n\r\nhalf", float("inf")]
    async with Upstream(lambda _: iter(steps)) as up, opened(up.base_url) as transport:
        with pytest.raises(TooSlow):
            await transport.post("/x", b"{}", soon(0.2))
        with await transport.stream("/x", b"{}", soon(0.2)) as stream:
            with pytest.raises(TooSlow):
                await stream.rest()


async def test_what_had_come_is_read_before_the_failure(opened, soon):
    steps = [CHUNKED + framed(b"half"), Cut.CLOSE]
    async with Upstream(lambda _: iter(steps)) as up, opened(up.base_url) as transport:
        with await transport.stream("/x", b"{}", soon()) as stream:
            await asyncio.sleep(0.1)
            assert await stream.read() == b"half"
            with pytest.raises(Unreachable):
                await stream.read()


async def test_an_alarm_rings_once_at_the_time_last_set():
    loop = asyncio.get_running_loop()
    rung = []
    alarm = Alarm(loop, lambda: rung.append(loop.time()))
    start = loop.time()
    alarm.set(start + 60)
    alarm.set(start + 0.05)
    alarm.set(start + 0.2)
    async with asyncio.timeout(5):
        while not rung:
            await asyncio.sleep(0.01)
    assert rung[0] >= start + 0.19
    alarm.set(loop.time() + 0.05)
    alarm.clear()
    await asyncio.sleep(0.1)
    alarm.set(loop.time() - 1)
    alarm.close()
    await asyncio.sleep(0.05)
    assert len(rung) == 1


@BOTH
@pytest.mark.parametrize(
    "steps",
    [
        [Cut.RESET],
        [b"no HTTP"],
        [b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", Cut.CLOSE],
        [float("inf")],
    ],
    ids=["reset", "no HTTP", "half", "silent"],
)
async def test_a_failure_leaves_nothing_to_the_garbage_collector(opened, asks, soon, steps, how):
    """Where an upstream is down there are many of them, and each holds what it had to send."""
    async with Upstream(lambda _: iter(steps)) as up, opened(up.base_url) as transport:
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                with pytest.raises((Unreachable, TooSlow)):
                    await asks[how](transport, b"{}", soon(0.2))
            await asyncio.sleep(0.01)  # the loop lets go of what has been closed
            kinds = (connections.Connection, Response)
            assert [thing for thing in gc.get_objects() if isinstance(thing, kinds)] == []
        finally:
            gc.enable()

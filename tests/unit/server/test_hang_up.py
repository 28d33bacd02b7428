"""R55: a caller that hangs up frees what its request holds, at once."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from math import inf

import pytest

from hybridge.testing.backend import whole
from hybridge.testing.gateway import ScriptedGateway, piece
from hybridge.testing.http import read, read_head

pytestmark = pytest.mark.anyio
WITHIN_S = 1.0


@pytest.mark.parametrize("stream", [True, False])
async def test_before_the_first_event(opened, chat, stream):
    async with opened(inf) as door:
        async with door.sent(body=chat(stream=stream)):
            await door.gateway.begun.wait()
        async with asyncio.timeout(WITHIN_S):
            await door.gateway.ended.wait()
        assert door.gateway.visits[0].cancelled


async def test_in_the_middle_of_a_stream(opened, chat):
    async with opened(piece("one"), inf) as door:
        async with door.sent(body=chat(stream=True)) as (reader, writer):
            await read_head(reader)
            writer.transport.abort()
        async with asyncio.timeout(WITHIN_S):
            await door.gateway.ended.wait()
        assert door.gateway.visits[0].cancelled
        assert len(door.app.drain) == 0


async def test_while_sending_its_body(opened):
    async with opened() as door:
        async with door.sent(body=b"{", headers={"content-length": "100"}) as (_, writer):
            await writer.drain()
        assert (await door.ask("/livez", method="GET")).status == 200
    assert not door.gateway.visits


async def test_those_who_stay_are_not_disturbed(opened, chat):
    async with opened(0.3, piece("slow"), 0.2, piece(finish="stop")) as door:
        got = await door.ask(body=chat(stream=True))
    assert got.events[-1] == "[DONE]"
    assert not door.gateway.visits[0].cancelled


async def test_a_connection_serves_one_request_after_another(opened, chat):
    """Also after one that was watched for a hang-up."""
    async with opened(0.2, whole("Hi")) as door, door.sent(body=chat()) as (reader, writer):
        assert (await read(reader)).status == 200
        writer.write(b"GET /livez HTTP/1.1\r\nhost: t\r\n\r\n")
        assert (await read(reader)).status == 200


class Settling(ScriptedGateway):
    """Takes a while to put its things in order after an answer."""

    settled = False

    @asynccontextmanager
    async def serve(self, request):
        async with super().serve(request) as reply:
            yield reply
            await asyncio.sleep(0.2)
            self.settled = True


@pytest.mark.parametrize("stream", [False, True])
async def test_a_complete_answer_is_no_hang_up(opened, chat, stream):
    """What is left to do for it is done, also where the caller leaves with its answer."""
    step = piece("Hi", finish="stop") if stream else whole("Hi")
    gateway = Settling(0.3, step)
    async with opened(gateway=gateway) as door:
        await door.ask(body=chat(stream=stream))
        async with asyncio.timeout(WITHIN_S):
            while not gateway.visits[0].over:
                await asyncio.sleep(0.01)
    assert gateway.settled
    assert not gateway.visits[0].cancelled


async def test_what_its_backend_never_ends_is_ended(opened, chat):
    async with opened(inf, longest_s=0.2) as door:
        got = await door.ask(body=chat())
    assert got.status == 504
    assert door.gateway.visits[0].cancelled


async def test_a_stream_too_is_ended_with_an_error(opened, chat):
    async with opened(piece("one"), inf, longest_s=0.2) as door:
        got = await door.ask(body=chat(stream=True))
    assert "longer than its deadline" in got.events[-1]
    assert door.gateway.visits[0].cancelled

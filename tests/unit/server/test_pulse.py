"""A stream that is silent shows that it is alive; a caller who does not read holds nobody up."""

from __future__ import annotations

import asyncio
from math import inf

import msgspec
import pytest

from hybridge.core.errors import BackendError, Fault
from hybridge.testing.backend import whole
from hybridge.testing.gateway import piece
from hybridge.testing.http import read_head

pytestmark = pytest.mark.anyio
BEAT = ": keep-alive"


def blocks(got) -> list[str]:
    return got.body.decode().split("\n\n")[:-1]


def broken() -> BackendError:
    return BackendError("gpt broke", backend="gpt", fault=Fault.SERVER, status=500)


async def test_comments_fill_the_silence_between_two_events(opened, chat):
    async with opened(piece("a"), 1.0, piece("b", "stop"), keepalive_s=0.2) as door:
        got = await door.ask(body=chat(stream=True))
    said = blocks(got)
    assert said[1] == BEAT
    assert said.count(BEAT) >= 2
    assert [msgspec.json.decode(b[6:])["choices"][0]["delta"] for b in said if "content" in b]
    assert said[-1] == "data: [DONE]"


async def test_without_them_nothing_is_said(opened, chat):
    async with opened(piece("a"), 0.6, piece("b", "stop"), keepalive_s=None) as door:
        assert BEAT not in blocks(await door.ask(body=chat(stream=True)))


async def test_a_stream_that_speaks_is_not_interrupted(opened, chat):
    steps = [step for letter in "abcdefgh" for step in (0.1, piece(letter))]
    async with opened(*steps, piece(finish="stop"), keepalive_s=0.6) as door:
        assert BEAT not in blocks(await door.ask(body=chat(stream=True)))


async def test_a_whole_answer_has_none(opened, chat):
    async with opened(0.5, whole("Hi"), keepalive_s=0.1, early_headers_s=0.1) as door:
        got = await door.ask(body=chat())
    assert got.json["choices"]


async def test_the_head_waits_for_the_first_event(opened, chat):
    async with opened(0.5, broken(), keepalive_s=0.1) as door:
        got = await door.ask(body=chat(stream=True))
    assert got.status == 502
    assert got.json["error"]["message"]


async def test_early_heads_where_they_are_wanted(opened, chat):
    async with opened(inf, keepalive_s=0.2, early_headers_s=0.2) as door:
        async with door.sent(body=chat(stream=True)) as (reader, _):
            status, headers = await read_head(reader)
            beats = [await reader.readuntil(b"\n\n") for _ in range(3)]
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["x-hybridge-request-id"]
    assert all(BEAT.encode() in beat for beat in beats)


async def test_after_an_early_head_the_answer_is_complete(opened, chat):
    async with opened(0.6, piece("a"), piece("b", "stop"), early_headers_s=0.1) as door:
        got = await door.ask(body=chat(stream=True))
    said = blocks(got)
    assert said[0] == BEAT
    last = msgspec.json.decode(said[-2][6:])
    assert last["hybridge"]["route"]
    assert said[-1] == "data: [DONE]"


async def test_after_an_early_head_a_failure_is_the_one_event(opened, chat):
    async with opened(0.6, broken(), early_headers_s=0.1) as door:
        got = await door.ask(body=chat(stream=True))
    events = [block for block in blocks(got) if block != BEAT]
    assert got.status == 200
    assert len(events) == 1
    assert msgspec.json.decode(events[0][6:])["error"]["message"]


async def test_a_caller_who_does_not_read_is_given_up(opened, chat):
    much = [piece("x" * 60_000) for _ in range(400)]
    async with opened(*much, inf, client_timeout_s=0.3) as door:
        async with door.sent(body=chat(stream=True)):
            async with asyncio.timeout(10):
                await door.gateway.ended.wait()
        assert door.gateway.visits[0].cancelled
        assert len(door.app.drain) == 0


async def test_a_caller_who_does_not_read_the_comments_either_is_given_up(opened, chat):
    much = piece("x" * 24_000_000)
    async with opened(much, inf, keepalive_s=0.2, client_timeout_s=0.3) as door:
        async with door.sent(body=chat(stream=True)):
            async with asyncio.timeout(10):
                await door.gateway.ended.wait()
        assert door.gateway.visits[0].cancelled


async def test_a_caller_who_reads_slowly_is_waited_for(opened, chat):
    much = [piece("x" * 60_000) for _ in range(100)]
    async with opened(*much, piece(finish="stop"), client_timeout_s=2.0) as door:
        async with door.sent(body=chat(stream=True)) as (reader, _):
            await read_head(reader)
            read = b""
            while b"[DONE]" not in read[-100:]:
                await asyncio.sleep(0.01)
                read += await reader.read(200_000)
    assert read.count(b"x" * 60_000) == 100

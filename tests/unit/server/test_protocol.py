"""Heads that are broken, endless or never complete; requests in a row on one connection."""

from __future__ import annotations

import asyncio
import json

import pytest

from hybridge.server import protocol
from hybridge.testing.backend import whole

pytestmark = pytest.mark.anyio

BODY = json.dumps({"messages": [{"role": "user", "content": "Hi"}]}).encode()
ASK = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b"


async def talk(port: int, *pieces: bytes, answers: int = 1) -> list[tuple[int, dict]]:
    """Sends the pieces, reads so many answers, or all until the server hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.01)
    said = [await answer(reader) for _ in range(answers)]
    writer.close()
    return said


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    return int(head.split()[1]), json.loads(await reader.readexactly(length))


@pytest.mark.parametrize(
    "noise",
    [
        b"\x16\x03\x01\x02\x00\x01",
        b"HELLO\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
    ],
)
async def test_what_is_no_http_gets_a_json_error(opened, noise):
    async with opened() as door:
        [(status, said)] = await talk(door.listener.port, noise)
    assert status == 400
    assert said["error"]["code"] == "invalid_http"


async def test_an_endless_head_is_refused_before_it_fills_the_memory(opened):
    async with opened() as door:
        head = b"GET /livez HTTP/1.1\r\nx-long: "
        [(status, said)] = await talk(door.listener.port, head, b"a" * protocol.HEAD_BYTES)
    assert status == 431
    assert said["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "sent", [b"", b"POST /v1/chat", b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"]
)
async def test_a_head_that_never_comes_is_given_up(opened, monkeypatch, sent):
    monkeypatch.setattr(protocol, "HEAD_S", 0.05)
    async with opened() as door:
        [(status, said)] = await talk(door.listener.port, sent)
    assert status == 408
    assert said["error"]["code"] == "request_timeout"


async def test_a_second_head_that_never_comes_is_given_up_too(opened, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_S", 0.05)
    async with opened() as door:
        said = await talk(door.listener.port, ASK % (len(BODY), BODY), b"POST /v1", answers=2)
    assert [status for status, _ in said] == [200, 408]


async def test_a_slow_answer_is_not_taken_for_a_head_that_is_missing(opened, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_S", 0.05)
    async with opened(0.2, whole("Late.")) as door:
        [(status, _)] = await talk(door.listener.port, ASK % (len(BODY), BODY))
    assert status == 200


async def test_requests_that_come_together_are_answered_in_order(opened):
    async with opened() as door:
        ask = ASK % (len(BODY), BODY)
        get = b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"
        said = await talk(door.listener.port, ask + get + ask + get, answers=4)
    assert [status for status, _ in said] == [200] * 4
    assert [("choices" in body, body.get("status")) for _, body in said] == [
        (True, None),
        (False, "alive"),
    ] * 2


async def test_the_rest_of_a_body_that_was_refused_is_no_head(opened):
    async with opened(max_body_mb=0.1) as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.listener.port)
        size = 4 * protocol.HEAD_BYTES
        writer.write(ASK % (size, b""))
        assert (await answer(reader))[0] == 413
        writer.write(b"x" * size + b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
        assert (await answer(reader))[0] == 200
        writer.close()

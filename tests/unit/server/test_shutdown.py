"""R85, B60: shutting down cuts nobody short, and keeps nobody for ever."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf

import pytest

from hybridge.core.errors import ConfigError
from hybridge.server.config import ServerConfig
from hybridge.server.serve import Listener
from hybridge.testing.gateway import piece
from hybridge.testing.http import ask, read, read_head, sent

pytestmark = pytest.mark.anyio


async def test_draining_refuses_new_work_and_says_so(opened, chat):
    running = (0.5, piece("Hi"), 0.3, piece(finish="stop"))
    async with opened(*running) as door, door.sent(body=chat(stream=True)) as (reader, _):
        await door.gateway.begun.wait()
        door.listener.stop()
        ready = await door.ask("/readyz", method="GET")
        live = await door.ask("/livez", method="GET")
        refused = await door.ask(body=chat())
        assert (ready.status, ready.json["reason"]) == (503, "shutting down")
        assert live.status == 200
        assert (refused.status, refused.json["error"]["code"]) == (503, "shutting_down")
        assert refused.headers["retry-after"] == "1"
        assert refused.headers["connection"] == "close"
        assert (await read(reader)).events[-1] == "[DONE]"


@asynccontextmanager
async def left_running(opened, body, *steps, **config):
    """A request that is under way when the listener closes; yields what comes of it."""
    async with AsyncExitStack() as connection:
        async with opened(*steps, **config) as door:
            reader, _ = await connection.enter_async_context(door.sent(body=body))
            await door.gateway.begun.wait()
        yield await read(reader), door.gateway.visits[0]


async def test_what_can_finish_within_the_grace_does(opened, chat):
    steps = (piece("Hi"), 0.5, piece(finish="stop"))
    async with left_running(opened, chat(stream=True), *steps) as (got, visit):
        assert got.events[-1] == "[DONE]"
        assert not visit.cancelled


async def test_after_the_grace_a_stream_ends_with_an_error_event(opened, chat):
    steps = (piece("Hi"), inf)
    async with left_running(opened, chat(stream=True), *steps, grace_s=0.2) as (got, visit):
        assert json.loads(got.events[-1])["error"]["code"] == "shutting_down"
        assert visit.cancelled


async def test_after_the_grace_a_whole_answer_is_refused(opened, chat):
    async with left_running(opened, chat(), inf, grace_s=0.0) as (got, visit):
        assert (got.status, got.headers["retry-after"]) == (503, "1")
        assert visit.cancelled


async def test_told_twice_it_does_not_wait(opened, chat):
    async with (
        asyncio.timeout(10),
        opened(piece("Hi"), inf, grace_s=600) as door,
        door.sent(body=chat(stream=True)) as (reader, _),
    ):
        await read_head(reader)
        door.listener.stop()
        door.listener.stop()
        await door.listener.until_stopped()


async def test_the_port_is_free_afterwards(opened):
    async with opened() as door:
        port = door.listener.port
    with socket.create_server(("127.0.0.1", port)):
        pass


async def test_a_taken_port_is_named_with_the_way_out(opened):
    async with opened() as door:
        taken = ServerConfig(port=door.listener.port)
        with pytest.raises(ConfigError, match=rf"port {taken.port}: .* --port"):
            async with Listener(door.app, taken):
                pass


PROGRAM = """
from hybridge.core.clock import SystemClock
from hybridge.core.redaction import Redactor
from hybridge.server.surface import build_app
from hybridge.server.config import ServerConfig
from hybridge.server.serve import Listener, run
from hybridge.telemetry.metrics import Metrics
from hybridge.testing.gateway import ScriptedGateway, piece

async def main():
    config = ServerConfig(port=0, grace_s=GRACE)
    gateway = ScriptedGateway(piece("Hi"), WAIT, piece(finish="stop"))
    app = build_app(gateway, config, keys={}, metrics=Metrics(), redact=Redactor(),
                    clock=SystemClock())
    async with Listener(app, config) as listener:
        print(listener.port, flush=True)
        await listener.until_stopped()

run(main())
"""


async def _process(*, grace_s: float, wait_s: str) -> tuple[asyncio.subprocess.Process, int]:
    program = PROGRAM.replace("GRACE", str(grace_s)).replace("WAIT", wait_s)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    return process, int(await process.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signal_lets_streams_finish_and_exits_with_0(chat, number):
    process, port = await _process(grace_s=30, wait_s="1.0")
    async with sent(port, body=chat(stream=True)) as (reader, _):
        await reader.readuntil(b"data: ")
        process.send_signal(number)
        assert b"[DONE]" in await reader.read()
    assert await process.wait() == 0


async def test_second_signal_ends_it_at_once(chat):
    process, port = await _process(grace_s=600, wait_s="float('inf')")
    async with sent(port, body=chat(stream=True)) as (reader, _):
        await read_head(reader)
        process.send_signal(signal.SIGTERM)
        while (await ask(port, "/readyz", method="GET")).status != 503:
            pass
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            assert await process.wait() == 0
        assert b"[DONE]" not in await reader.read()

"""A Redis on a free port of loopback, and servers in its place that are none."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as NotConnected

PROGRAM = "redis-server"
PATIENCE_S = 20.0
_COMMAND = re.compile(rb"^\*\d+\r\n\$\d+\r\n(\w+)\r\n", re.MULTILINE)
Talk = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
"""Answers what was just received."""


class RedisServer:
    """Started and stopped at will, always on the same port, empty at each start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    async def start(self, *options: str) -> None:
        """Returns when it answers. `options` as on its command line."""
        self._process = await asyncio.create_subprocess_exec(
            *(PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1"),
            *("--save", "", "--appendonly", "no", "--dir", str(self._folder)),
            *options,
            stdout=asyncio.subprocess.DEVNULL,
        )
        async with asyncio.timeout(PATIENCE_S):
            while not await self._listens():
                await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Kills it."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            self._process = None

    async def ask(self, *command: Any) -> Any:
        """What it answers to a command."""
        async with Redis.from_url(self.url) as client:
            return await client.execute_command(*command)

    async def all(self) -> dict[bytes, bytes]:
        """Everything that lies in it."""
        return {key: await self.ask("GET", key) for key in await self.ask("KEYS", "*")}

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _listens(self) -> bool:
        if self._process is None or self._process.returncode is not None:
            raise RuntimeError(f"{PROGRAM} has ended")
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        with suppress(NotConnected):
            return bool(await self.ask("PING"))
        return True  # it wants a password, which is an answer too


class Recorder:
    """What came over all connections to a server that is none, or that passes it on."""

    def __init__(self) -> None:
        self.connections = 0
        self.received = b""
        self.url = ""


@asynccontextmanager
async def recording(talk: Talk | None = None, *, to: int | None = None) -> AsyncIterator[Recorder]:
    """A TCP server that notes every byte; it answers as `talk` does, or as the port `to` does, or
    nothing for ever."""
    recorder, tasks = Recorder(), set[asyncio.Task[None]]()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        recorder.connections += 1
        with suppress(ConnectionError, asyncio.CancelledError):
            await (
                _passing_on(recorder, reader, writer, to)
                if to
                else _noting(recorder, reader, writer, talk)
            )
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    recorder.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    try:
        yield recorder
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)


async def _noting(
    recorder: Recorder,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    talk: Talk | None,
) -> None:
    while received := await reader.read(65536):
        recorder.received += received
        if talk is not None:
            await talk(received, writer)


async def _passing_on(
    recorder: Recorder, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
) -> None:
    back, forth = await asyncio.open_connection("127.0.0.1", port)

    async def answers() -> None:
        while told := await back.read(65536):
            writer.write(told)

    answering = asyncio.create_task(answers())
    try:
        while received := await reader.read(65536):
            recorder.received += received
            forth.write(received)
    finally:
        answering.cancel()
        forth.close()


async def holding_nothing(received: bytes, writer: asyncio.StreamWriter) -> None:
    """As an empty Redis that keeps nothing."""
    for command in _COMMAND.findall(received):
        writer.write(b"$-1\r\n" if command == b"GET" else b"+OK\r\n")


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

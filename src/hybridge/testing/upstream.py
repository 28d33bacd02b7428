"""A real HTTP server on loopback that speaks the chat-completions format and fails on order."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from hybridge.testing.replies import Cut, Received, Reply, answers, says

_MODELS = answers({"object": "list", "data": [{"id": "scripted", "object": "model"}]})


class Upstream:
    """Answers each POST with the next of `replies`, the last one again and again.

    GET is answered with `on_get`, a list of models unless told otherwise. What arrived lies in
    `requests`. Use it as `async with Upstream(says("Hi")) as up:` and ask `up.base_url`.
    """

    def __init__(
        self, *replies: Reply, on_get: Reply = _MODELS, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.requests: list[Received] = []
        """Every request so far, in order of arrival."""
        self.connections = 0
        """How many connections have been accepted."""
        self._replies = list(replies) or [says()]
        self._on_get = on_get
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """Where its `/v1` is."""
        return f"{self.root_url}/v1"

    @property
    def root_url(self) -> str:
        """Where it listens, without a path; also its address as a proxy."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def posts(self) -> list[Received]:
        """The requests that asked for an answer, without the probes."""
        return [received for received in self.requests if received.method == "POST"]

    def then(self, *replies: Reply) -> None:
        """From now on answers with these."""
        self._replies = list(replies)

    def get_with(self, reply: Reply) -> None:
        """From now on answers GET with this."""
        self._on_get = reply

    def drop_connections(self) -> None:
        """Closes every open connection, idle ones too; goes on listening."""
        for task in self._serving:
            task.cancel()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        self.drop_connections()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await asyncio.sleep(0)  # the loop lets go of closed sockets in its next turn

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        serving = asyncio.ensure_future(self._serve(reader, writer))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)
        serving.add_done_callback(lambda _: writer.close())  # also where it never began

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request. The byte read ahead tells when it is closed."""
        ahead = asyncio.ensure_future(_one_byte(reader))
        try:
            while (first := await ahead) and (received := await _request(first, reader)):
                self.requests.append(received)
                ahead = asyncio.ensure_future(_one_byte(reader))
                if not await self._answer(received, writer, ahead):
                    break
        finally:
            ahead.cancel()

    async def _answer(
        self, received: Received, writer: asyncio.StreamWriter, ahead: asyncio.Future[bytes]
    ) -> bool:
        """Whether the connection may be used again."""
        playing = asyncio.ensure_future(_play(self._reply(received), received, writer))
        try:
            both: set[asyncio.Future[Any]] = {playing, ahead}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                return playing.result()
            received.gone.set()
            return False
        finally:
            playing.cancel()

    def _reply(self, received: Received) -> Reply:
        if received.method == "GET":
            return self._on_get
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


async def _play(reply: Reply, received: Received, writer: asyncio.StreamWriter) -> bool:
    """Whether the answer came to its end."""
    for step in reply(received):
        if isinstance(step, Cut):
            _cut(step, writer)
            return False
        try:
            await _take(step, writer)
        except ConnectionError:
            received.gone.set()
            return False
    return True


async def _take(step: bytes | float, writer: asyncio.StreamWriter) -> None:
    if isinstance(step, bytes):
        writer.write(step)
        await writer.drain()
    elif step == float("inf"):
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(step)


def _cut(how: Cut, writer: asyncio.StreamWriter) -> None:
    if how is Cut.RESET:
        # Lingering for zero seconds makes the kernel send RST instead of FIN (socket(7)).
        sock: socket.socket = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


async def _one_byte(reader: asyncio.StreamReader) -> bytes:
    """Empty when the client hung up."""
    with suppress(ConnectionError):
        return await reader.read(1)
    return b""


async def _request(first: bytes, reader: asyncio.StreamReader) -> Received | None:
    """None when the client hung up in the middle of it."""
    try:
        head = first + await reader.readuntil(b"\r\n\r\n")
        request_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        fields = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in fields}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    method, target, _ = request_line.split(" ")
    return Received(method, target, headers, body)

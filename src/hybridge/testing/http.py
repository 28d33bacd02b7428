"""The plainest possible HTTP client: every byte is seen, and connections stay with the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

CHAT = "/v1/chat/completions"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Got:
    """A response as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        """The body's JSON value."""
        return msgspec.json.decode(self.body)

    @property
    def events(self) -> list[str]:
        """The data of each server-sent event. Raises `ValueError` for what is not quite one."""
        *blocks, rest = self.body.decode().split("\n\n")
        if rest or not all(b.startswith("data: ") and "\n" not in b for b in blocks):
            raise ValueError("not a well-formed stream of events")
        return [block.removeprefix("data: ") for block in blocks]


@asynccontextmanager
async def sent(
    port: int,
    path: str = CHAT,
    body: Any = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[Connection]:
    """Sends one request to loopback, `body` being bytes or JSON; the connection is the test's."""
    content = (
        body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
    )
    given = {"host": "test", **(headers or {})}
    if "transfer-encoding" not in given:
        given.setdefault("content-length", str(len(content)))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join([*lines, "", ""]).encode("utf-8") + content)
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def ask(
    port: int,
    path: str = CHAT,
    body: Any = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> Got:
    """The response to one request."""
    async with sent(port, path, body, method=method, headers=headers) as (reader, _):
        return await read(reader)


async def read(reader: asyncio.StreamReader) -> Got:
    """One response. Raises `IncompleteReadError` when it does not come to its own end."""
    status, headers = await read_head(reader)
    if headers.get("transfer-encoding") != "chunked":
        length = int(headers.get("content-length", 0))
        return Got(status, headers, await reader.readexactly(length))
    body = bytearray()
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return Got(status, headers, bytes(body))


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Status and headers of a response."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.split(": ", 1) for line in lines if line)
    return int(first.split()[1]), {name.lower(): value for name, value in pairs}

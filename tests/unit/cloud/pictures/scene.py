"""A host of pictures on loopback, a resolver, and questions about pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM
from typing import Any

from hybridge.cloud.http.race import Found
from hybridge.core.clock import Deadline, SystemClock

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 5
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Say = bytes | Handler


@dataclass
class Host:
    """By path: the bytes of a whole response, or what is to be done."""

    says: dict[str, Say] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    """Of the requests that came."""
    port: int = 0
    connections: int = 0
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has left before its answer was whole; only for `waits`."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [head.split(" ", 2)[1] for head in self.heads]

    async def waits(self, reader: asyncio.StreamReader, _: Any = None) -> None:
        """Says nothing more, and notes when the client leaves."""
        with suppress(OSError):
            await reader.read()
        self.hung_up.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.heads.append(head)
        say = self.says.get(head.split(" ", 2)[1], response(b"", status="404 Not Found"))
        if isinstance(say, bytes):
            writer.write(say)
            await writer.drain()
        else:
            await say(reader, writer)


def response(
    body: bytes = PNG,
    kind: str | None = "image/png",
    *,
    status: str = "200 OK",
    length: int | None = -1,
    **headers: str,
) -> bytes:
    """`length` None: none is sent; -1: the right one. `_` stands for `-` in a header's name."""
    lines = [f"HTTP/1.1 {status}"]
    lines += [f"content-type: {kind}"] if kind is not None else []
    lines += [f"content-length: {len(body) if length == -1 else length}"] * (length is not None)
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def moved(to: str, status: str = "302 Found") -> bytes:
    return response(b"", None, status=status, location=to, set_cookie="who=me")


@dataclass
class Resolver:
    """A resolver that knows what it was told. One that has several answers for a name gives
    another one each time."""

    answers: dict[str, list[Sequence[str]]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[Found]:
        self.asked.append(host)
        if host not in self.answers:
            raise OSError("no such name")
        answers = self.answers[host]
        return [found(one, port) for one in (answers.pop(0) if len(answers) > 1 else answers[0])]


def found(address: str, port: int) -> Found:
    if ip_address(address).version == 4:
        return (AF_INET, SOCK_STREAM, IPPROTO_TCP, "", (address, port))
    return (AF_INET6, SOCK_STREAM, IPPROTO_TCP, "", (address, port, 0, 0))


def soon(seconds: float = 20.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


def asking(*urls: str) -> dict[str, Any]:
    """A question about pictures: messages[0].content[1], [2], …"""
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    content = [{"type": "text", "text": "What is this?"}, *shown]
    return {"model": "auto", "messages": [{"role": "user", "content": content}]}


def urls_in(body: Mapping[str, Any]) -> list[str]:
    return [part["image_url"]["url"] for part in body["messages"][0]["content"][1:]]

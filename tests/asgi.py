"""A request straight to an application, without a server between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hybridge.server.app import App


async def call(
    app: App, path: str, body: bytes, headers: Sequence[tuple[bytes, bytes]] = ()
) -> tuple[int, bytes]:
    """The status and the whole answer to one POST; exactly one answer was begun."""
    length = (b"content-length", b"%d" % len(body))
    scope = {"type": "http", "method": "POST", "path": path, "headers": [length, *headers]}
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    statuses, told = list[int](), bytearray()

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await asyncio.Event().wait()
        raise AssertionError("never reached")

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
        else:
            told.extend(message.get("body", b""))

    await app(scope, receive, send)
    assert len(statuses) == 1
    return statuses[0], bytes(told)

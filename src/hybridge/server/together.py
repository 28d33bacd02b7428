"""Bytes that are written together go out together."""

from __future__ import annotations

import asyncio
from typing import Any

MOST_BYTES = 64 << 10
"""More is sent at once, so that a client that reads slowly is noticed."""


class Together:
    """A transport that sends in one piece what is written in one turn of the event loop.

    uvicorn writes a response's head and its body one after the other: two calls to the system, two
    packets, and a client that is woken up twice.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Sends it at the end of this turn."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > MOST_BYTES:
            self._flush()

    def close(self) -> None:
        """Sends what waits, then closes."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting, self._size = [], 0
            self._transport.write(data)

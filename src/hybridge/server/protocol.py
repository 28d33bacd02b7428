"""HTTP/1.1 as uvicorn speaks it, with patience that ends and errors that clients can read."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from hybridge.server.errors import Failure
from hybridge.server.together import Together

HEAD_S = 30.0
"""How long a request's head may take to arrive."""
HEAD_BYTES = 64 << 10
"""How long it may be."""


class Protocol(HttpToolsProtocol):
    """One connection. Whoever sends a head that is broken, endless or never complete is refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        """Of a head that is not complete yet."""
        self._head_late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Who connects and says nothing has the same time as who stops in the middle."""
        super().connection_made(Together(transport, self.loop))  # type: ignore[arg-type]
        self._head_late = self.loop.call_later(HEAD_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Most heads come in one piece; only for others the time is taken."""
        before = self.cycle
        super().data_received(data)
        cycle = self.cycle
        if cycle is not before:  # a head is complete
            self._head_bytes = 0
            if self._head_late is not None:
                self._stop_waiting()
        elif cycle is None or (cycle.response_complete and not cycle.more_body):
            self._wait_for_head(len(data))  # not the rest of a body that was refused

    def _wait_for_head(self, came: int) -> None:
        self._head_bytes += came
        if self._head_bytes > HEAD_BYTES:
            self._refuse(Failure(431, "the request's head is too long", "invalid_request_error"))
        elif self._head_late is None:
            self._head_late = self.loop.call_later(HEAD_S, self._give_up)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP gets an error like any other."""
        self._refuse(Failure(400, msg, "invalid_request_error", "invalid_http"))

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            said = "the request's head did not arrive in time"
            self._refuse(Failure(408, said, "invalid_request_error", "request_timeout"))

    def _refuse(self, failed: Failure) -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        body = failed.body
        self.transport.write(STATUS_LINE[failed.status] + head % len(body) + body)
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._head_late is not None:
            self._head_late.cancel()
            self._head_late = None

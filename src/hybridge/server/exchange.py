"""One HTTP request and its response, straight on ASGI."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import MutableMapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from hybridge.core.errors import RequestError
from hybridge.server import sse

Header = tuple[bytes, bytes]
Bytes = TypeVar("Bytes", bytes, bytearray)

BODY_SILENCE_S = 30.0
"""How long a caller may pause while sending a body, before it is given up."""
_ids = random.Random()  # noqa: S311 - seeded by the system, and ten times as fast as its own
_PRINTABLE = re.compile(rb"[\x21-\x7e]{1,128}")
_JSON = (b"content-type", b"application/json")


class Gone(Exception):
    """The caller hung up; there is nobody to answer."""


class Response(Struct, frozen=True):
    """A whole response."""

    status: int
    body: bytes
    headers: Sequence[Header] = ()
    content_type: Header = _JSON


class Exchange:
    """Reads one request and writes one response: whole with `respond`, or event by event."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        """By lower-case name."""
        self.receive = receive
        self.id = f"req-{_ids.getrandbits(96):024x}"
        """Ours, and unique, though no secret. A caller's own `x-request-id` is only echoed, since
        that need not be unique."""
        self.streaming = False
        """Whether a stream of events has begun, so that no status can be given any more."""
        self._send = send
        self._body_read = False

    def header(self, name: bytes) -> str | None:
        """The value of a request header, by its lower-case name."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    async def body(self, limit: int) -> bytes:
        """The whole body. Raises `RequestError` beyond `limit` bytes, without reading on."""
        if self.headers.get(b"content-encoding", b"identity") != b"identity":
            raise RequestError("a compressed body is not accepted", code="unsupported_encoding")
        length = self.headers.get(b"content-length", b"0")
        if len(length) > 15 or int(length) > limit:
            raise _too_large(limit)
        self._body_read = True
        message = await self.receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            return _within(bytes(message.get("body", b"")), limit)
        return await self._rest_of_body(message, limit)

    async def respond(self, response: Response) -> None:
        """Sends a whole response."""
        length = (b"content-length", b"%d" % len(response.body))
        await self._start(response.status, [response.content_type, length, *response.headers])
        await self._send({"type": "http.response.body", "body": response.body})

    async def begin_stream(self, headers: Sequence[Header]) -> None:
        """Starts a stream of server-sent events."""
        self.streaming = True
        await self._start(200, [*sse.HEADERS, *headers])

    async def write(self, data: bytes) -> None:
        """Sends a piece of the stream."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes = b"") -> None:
        """Sends the stream's last piece."""
        await self._send({"type": "http.response.body", "body": data})

    async def _start(self, status: int, headers: list[Header]) -> None:
        ours = self.id.encode()
        theirs = self.headers.get(b"x-request-id", b"")
        echoed = theirs if _PRINTABLE.fullmatch(theirs) else ours
        if b"expect" in self.headers and not self._body_read:
            headers.append((b"connection", b"close"))  # nobody knows whether the body will come
        headers += ((b"x-hybridge-request-id", ours), (b"x-request-id", echoed))
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _rest_of_body(self, message: MutableMapping[str, Any], limit: int) -> bytes:
        body = bytearray()
        while True:
            if message["type"] == "http.disconnect":
                raise Gone
            body += message.get("body", b"")
            _within(body, limit)
            if not message.get("more_body"):
                return bytes(body)
            try:
                async with asyncio.timeout(BODY_SILENCE_S):
                    message = await self.receive()
            except TimeoutError as late:
                raise RequestError("the body did not arrive", code="request_timeout") from late


def _within(body: Bytes, limit: int) -> Bytes:
    if len(body) > limit:
        raise _too_large(limit)
    return body


def _too_large(limit: int) -> RequestError:
    megabytes = f"{limit / 2**20:g}"
    return RequestError(
        f"the request body is larger than {megabytes} MB, the limit of this gateway "
        "(server.max_body_mb)",
        code="request_too_large",
    )

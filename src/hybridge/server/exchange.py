"""One HTTP request and its response, straight on ASGI."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from hybridge.core.errors import RequestError
from hybridge.server import sse

if TYPE_CHECKING:
    from hybridge.server.errors import Failure

Header = tuple[bytes, bytes]
Bytes = TypeVar("Bytes", bytes, bytearray)

COMMENT = b": keep-alive\n\n"
"""A line that every reader of events passes over."""
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

    arguments: tuple[str, ...] = ()
    """What stands in the path where its pattern has a name."""
    streaming = False
    """Whether a stream of events has begun, so that no status can be given any more."""
    over = False
    """Whether the response is complete."""
    arrived = 0
    """How many pieces of the body have come."""
    sent = 0
    """How many pieces of a stream were sent."""
    sending = False
    """Whether a piece waits for the caller to read what was sent before."""
    last_words: Callable[[Failure], bytes] | None = None
    """How an error is told that comes in a stream that has begun."""
    _body_read = False

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: str = scope.get("query_string", b"").decode("latin-1")
        """What stands after the `?`, as it came."""
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        """By lower-case name."""
        self.receive = receive
        self.id = f"req-{_ids.getrandbits(96):024x}"
        """Ours, and unique, though no secret. A caller's own `x-request-id` is only echoed, since
        that need not be unique."""
        self.failure: Callable[[Failure, str], bytes] = as_openai_tells
        """How an error is told in the client's vocabulary, with the request's id."""
        self._send = send

    def header(self, name: bytes) -> str | None:
        """The value of a request header, by its lower-case name."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    async def body(self, limit: int) -> bytes:
        """The whole body. Raises `RequestError` beyond `limit` bytes, without reading on.

        It waits for as long as the caller takes: see `Pulse`.
        """
        if self.headers.get(b"content-encoding", b"identity") != b"identity":
            raise RequestError("a compressed body is not accepted", code="unsupported_encoding")
        length = self.headers.get(b"content-length", b"0")
        if len(length) > 15 or int(length) > limit:
            raise _too_large(limit)
        self._body_read = True
        return await self._read_body(limit)

    async def respond(self, response: Response) -> None:
        """Sends a whole response."""
        length = (b"content-length", b"%d" % len(response.body))
        await self._start(response.status, [response.content_type, length, *response.headers])
        self.over = self.sending = True
        await self._send({"type": "http.response.body", "body": response.body})
        self.sending = False

    async def begin_stream(self, headers: Sequence[Header] = ()) -> None:
        """Starts a stream of server-sent events, unless it has begun already."""
        if not self.streaming:
            self.streaming = True
            await self._start(200, [*sse.HEADERS, *headers])

    async def write(self, data: bytes) -> None:
        """Sends a piece of the stream."""
        self.sent += 1
        self.sending = True
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.sending = False

    async def comment(self) -> None:
        """Shows that the stream is alive, where nothing else is being sent; may begin it."""
        if self.over or self.sending:
            return
        await self.begin_stream()
        self.sending = True
        await self._send({"type": "http.response.body", "body": COMMENT, "more_body": True})
        self.sending = False

    async def end(self, data: bytes = b"") -> None:
        """Sends the stream's last piece."""
        self.over = self.sending = True
        await self._send({"type": "http.response.body", "body": data})
        self.sending = False

    async def _start(self, status: int, headers: list[Header]) -> None:
        ours = self.id.encode()
        theirs = self.headers.get(b"x-request-id", b"")
        echoed = theirs if _PRINTABLE.fullmatch(theirs) else ours
        if b"expect" in self.headers and not self._body_read:
            headers.append((b"connection", b"close"))  # nobody knows whether the body will come
        headers += (
            (b"x-hybridge-request-id", ours),
            (b"x-request-id", echoed),
            (b"request-id", ours),  # Anthropic's name for it
        )
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _read_body(self, limit: int) -> bytes:
        body = bytearray()
        while True:
            message = await self.receive()
            self.arrived += 1
            if message["type"] == "http.disconnect":
                raise Gone
            piece = message.get("body", b"")
            if not message.get("more_body"):
                return _within(bytes(body + piece) if body else bytes(piece), limit)
            body += piece
            _within(body, limit)


async def respond_with(exchange: Exchange, failed: Failure) -> None:
    """Sends a whole response that tells of an error."""
    body = exchange.failure(failed, exchange.id)
    await exchange.respond(Response(failed.status, body, failed.headers))


def as_openai_tells(failed: Failure, _: str, /) -> bytes:
    """An error in OpenAI's vocabulary."""
    return failed.body


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


Endpoint = Callable[[Exchange], Awaitable[None]]
"""Answers one request. Raises `HybridgeError` and `Gone`."""

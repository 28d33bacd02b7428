"""What a client vocabulary must be able to do."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from hybridge.core.request import Request
from hybridge.core.response import Chunk, Completion, Usage
from hybridge.server.errors import Failure


class Asker(Struct, frozen=True):
    """Who asks, and by which exchange."""

    id: str
    """The request's id, unique; ids in an answer are made from it."""
    tenant: str
    headers: dict[bytes, bytes]
    """By lower-case name."""
    received_s: float
    """When the body had been read, on the clock's monotonic scale."""


class Writer(Protocol):
    """Tells one answer in the client's own words.

    `report` is the JSON of the `hybridge` object, None to leave it out.
    """

    @property
    def finished(self) -> bool:
        """Whether the chunks so far made a complete answer."""
        ...

    def whole(self, answer: Completion, usage: Usage, report: bytes | None) -> bytes:
        """The body of a response that does not stream."""
        ...

    def chunk(self, chunk: Chunk) -> bytes:
        """What to send of a stream now: whole server-sent events, or nothing yet."""
        ...

    def end(self, usage: Usage, report: bytes | None) -> bytes:
        """The last events of a stream that is `finished`."""
        ...

    def failed(self, failed: Failure) -> bytes:
        """The one event by which a stream ends that broke."""
        ...


class Asked(Struct, frozen=True):
    """A request in the house's own words, and who will tell its answer in the client's."""

    request: Request
    writer: Writer


class Shape(Protocol):
    """One vocabulary, such as OpenAI's chat completions or Anthropic's messages."""

    def read(self, said: dict[str, Any], asker: Asker) -> Asked:
        """Raises `RequestError` that names the field at fault in the client's own words.

        Nothing that was asked for is dropped in silence: it is translated, or refused.
        """
        ...

    def failure(self, failed: Failure, request_id: str, /) -> bytes:
        """The body of a response that tells of an error."""
        ...

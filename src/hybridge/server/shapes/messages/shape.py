"""The vocabulary as a whole: how it asks, answers and fails."""

from __future__ import annotations

from typing import Any

from hybridge.core.request import Request
from hybridge.server.errors import Failure
from hybridge.server.shapes.chat.parse import read_request
from hybridge.server.shapes.faults import missing
from hybridge.server.shapes.forms import COUNT
from hybridge.server.shapes.messages.errors import error_body
from hybridge.server.shapes.messages.parse import translate
from hybridge.server.shapes.messages.thinking import shows_thoughts
from hybridge.server.shapes.messages.writer import Count, MessagesWriter
from hybridge.server.shapes.shape import Asked, Asker


class Messages:
    """`POST /v1/messages`."""

    def __init__(self, count: Count) -> None:
        """`count` estimates a prompt, for the beginning of a stream."""
        self._count = count

    def read(self, said: dict[str, Any], asker: Asker) -> Asked:
        """See `Shape`."""
        if said.get("max_tokens") is None:
            raise missing("max_tokens", COUNT)
        request = self.prompt(said, asker)
        return Asked(request, MessagesWriter(request, self._count, thoughts=shows_thoughts(said)))

    def prompt(self, said: dict[str, Any], asker: Asker) -> Request:
        """The request in the house's own words; `max_tokens` may be missing."""
        return read_request(translate(said), asker)

    def failure(self, failed: Failure, request_id: str, /) -> bytes:
        """See `Shape`."""
        return error_body(failed, request_id)

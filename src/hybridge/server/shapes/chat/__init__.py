"""OpenAI's chat completions: the vocabulary that is spoken inside, so nothing is translated."""

from __future__ import annotations

from typing import Any

from hybridge.server.errors import Failure
from hybridge.server.shapes.chat.parse import read_request
from hybridge.server.shapes.chat.writer import ChatWriter
from hybridge.server.shapes.shape import Asked, Asker


class ChatCompletions:
    """`POST /v1/chat/completions`."""

    def read(self, said: dict[str, Any], asker: Asker) -> Asked:
        """See `Shape`."""
        request = read_request(said, asker)
        return Asked(request, ChatWriter(with_usage=request.include_usage))

    def failure(self, failed: Failure, _: str, /) -> bytes:
        """See `Shape`."""
        return failed.body

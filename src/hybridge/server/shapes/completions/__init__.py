"""OpenAI's legacy text completions, told to and by models that chat."""

from __future__ import annotations

from typing import Any

from hybridge.server.errors import Failure
from hybridge.server.shapes.chat.parse import read_request
from hybridge.server.shapes.completions.request import NAMES, as_chat, prompt_of
from hybridge.server.shapes.completions.writer import CompletionWriter
from hybridge.server.shapes.faults import renamed
from hybridge.server.shapes.shape import Asked, Asker

__all__ = ["TextCompletions"]


class TextCompletions:
    """`POST /v1/completions`.

    The prompt becomes one user turn, so a model answers it rather than going on where it ends.
    Without `max_tokens` there is no limit: OpenAI's default of 16 would cut nearly every answer.
    """

    def read(self, said: dict[str, Any], asker: Asker) -> Asked:
        """See `Shape`."""
        request = read_request(as_chat(said), asker)
        writer = CompletionWriter(
            asker.id.rpartition("-")[2],
            with_usage=bool((said.get("stream_options") or {}).get("include_usage")),
            with_logprobs=said.get("logprobs") is not None,
            echoed=prompt_of(said) if said.get("echo") else "",
        )
        return Asked(request, writer)

    def failure(self, failed: Failure, _: str, /) -> bytes:
        """See `Shape`."""
        return renamed(failed, NAMES).body

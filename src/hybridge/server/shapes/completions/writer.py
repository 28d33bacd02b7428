"""Tells an answer as a text completion: the chat answer, with its choices told anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hybridge.core.response import Chunk, Completion, Usage
from hybridge.core.wire import parse
from hybridge.server.errors import Failure
from hybridge.server.shapes.chat.writer import ChatWriter
from hybridge.server.shapes.completions.logprobs import Offsets
from hybridge.server.shapes.completions.request import NAMES
from hybridge.server.shapes.faults import renamed

_REASONS = {"length": "length", "content_filter": "content_filter"}
"""How an answer ended; in any other way it simply stopped."""


class CompletionWriter:
    """Implements `Writer`, by way of `ChatWriter`: a stream's order is the same in both.

    Thoughts have no place in this vocabulary; a refusal is what the model said.
    """

    def __init__(
        self, salt: str, *, with_usage: bool, with_logprobs: bool, echoed: str = ""
    ) -> None:
        """`salt` makes the answer's id unique; `echoed` is told before every choice's text."""
        self._head = {"id": f"cmpl-{salt}", "object": "text_completion"}
        self._inner = ChatWriter(with_usage=with_usage)
        self._with_logprobs = with_logprobs
        self._echoed = echoed
        self._begun: dict[int, Offsets] = {}
        """By index: the choices that were told of."""

    @property
    def finished(self) -> bool:
        """See `Writer`."""
        return self._inner.finished

    def whole(self, answer: Completion, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        body = parse(answer.wire)
        choices = [self._choice(choice, choice.get("message")) for choice in body["choices"]]
        wire = msgspec.json.encode(self._told(body, choices))
        return self._inner.whole(replace(answer, wire=wire), usage, report)

    def chunk(self, chunk: Chunk) -> bytes:
        """See `Writer`."""
        body = parse(chunk.wire)
        choices = [
            self._choice(choice, choice.get("delta"))
            for choice in body.get("choices") or ()
            if _says(choice)
        ]
        if not choices and chunk.usage is None:
            return b""
        wire = msgspec.json.encode(self._told(body, choices))
        return self._inner.chunk(replace(chunk, wire=wire, has_choices=bool(choices)))

    def end(self, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        return self._inner.end(usage, report)

    def failed(self, failed: Failure) -> bytes:
        """See `Writer`."""
        return self._inner.failed(renamed(failed, NAMES))

    def _told(self, body: Mapping[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
        kept = {name: value for name, value in body.items() if name not in self._head}
        return {**self._head, "created": 0, **kept, "choices": choices}

    def _choice(self, choice: Mapping[str, Any], said: Any) -> dict[str, Any]:
        index, reason = choice.get("index", 0), choice.get("finish_reason")
        text = _text(said)
        offsets = self._begun.get(index)
        if offsets is None:
            offsets = self._begun[index] = Offsets()
            text = self._echoed + text
        logprobs = choice.get("logprobs") if self._with_logprobs else None
        return {
            "text": text,
            "index": index,
            "logprobs": offsets.told(logprobs),
            "finish_reason": None if reason is None else _REASONS.get(reason, "stop"),
        }


def _says(choice: Mapping[str, Any]) -> bool:
    """Whether a choice of a chunk tells anything that this vocabulary has a word for."""
    return bool(_text(choice.get("delta")) or choice.get("finish_reason") or _has_tokens(choice))


def _has_tokens(choice: Mapping[str, Any]) -> bool:
    return bool((choice.get("logprobs") or {}).get("content"))


def _text(said: Any) -> str:
    said = said or {}
    content = said.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content)
    return str(content + (said.get("refusal") or ""))

"""Tells an answer as a response: its items, and the events by which they grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from hybridge.core.clock import Clock
from hybridge.core.response import Chunk, Completion, Usage
from hybridge.server import sse
from hybridge.server.errors import Failure
from hybridge.server.shapes import pieces
from hybridge.server.shapes.chat.ending import REPORT
from hybridge.server.shapes.faults import renamed
from hybridge.server.shapes.responses.details import Details
from hybridge.server.shapes.responses.fields import NAMES
from hybridge.server.shapes.responses.grown import Event
from hybridge.server.shapes.responses.output import Output

Keep = Callable[[bytes], bool]
"""Keeps a response; false where it could not be kept."""

_CUT_SHORT: Mapping[str | None, str] = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
}
"""Why an answer is incomplete, by the finish reason of the chat vocabulary."""


class ResponseWriter:
    """Implements `Writer`.

    A whole answer is read like a stream of one piece, so that both make the same response.
    """

    def __init__(
        self,
        head: Mapping[str, Any],
        output: Output,
        details: Details,
        keep: Keep | None,
        clock: Clock,
    ) -> None:
        """`head`: the response's members that are known from the beginning. `keep`: None where the
        caller does not want the answer kept."""
        self._head = head
        self._output = output
        self._details = details
        self._keep = keep
        self._clock = clock
        self._begun = False
        self._finish_reason: str | None = None
        self._number = 0

    @property
    def finished(self) -> bool:
        """See `Writer`."""
        return self._finish_reason is not None

    def whole(self, answer: Completion, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        for _ in self._read(answer):
            pass
        for _ in self._close():
            pass
        return self._final(usage, report)

    def chunk(self, chunk: Chunk) -> bytes:
        """See `Writer`."""
        return self._told([*self._opening(chunk.model), *self._read(chunk)])

    def end(self, usage: Usage, report: bytes | None) -> bytes:
        """See `Writer`."""
        told = self._told([*self._opening(), *self._close()])
        kind = "incomplete" if self._cut_short else "completed"
        response = msgspec.Raw(self._final(usage, report))
        return told + self._told([(f"response.{kind}", {"response": response})])

    def failed(self, failed: Failure) -> bytes:
        """`response.failed`, after `response.created` where nothing came before it.

        The `error` beside the response makes OpenAI's clients raise, as an error event of theirs
        would; without it they take a broken stream for a short answer. It has this house's own
        code; the one in the response has to be among OpenAI's.
        """
        failed = renamed(failed, NAMES)
        error = {"message": failed.message, "param": failed.param, "type": failed.type}
        known = error | {"code": _known_code(failed.status)}
        told = {"status": "failed", "error": known, "output": self._output.items()}
        event = {"response": self._response(told), "error": error | {"code": failed.code}}
        return self._told([*self._opening(), ("response.failed", event)])

    def _read(self, event: Chunk | Completion) -> Iterator[Event]:
        logprobs = self._details.read(event)
        piece = pieces.read(event)
        self._finish_reason = piece.finish_reason or self._finish_reason
        return self._output.take(piece, logprobs)

    def _close(self) -> Iterator[Event]:
        return self._output.close(complete=self._cut_short is None)

    @property
    def _cut_short(self) -> str | None:
        return _CUT_SHORT.get(self._finish_reason)

    def _opening(self, model: str = "") -> Iterator[Event]:
        if self._begun:
            return
        self._begun = True
        self._details.model = model or self._details.model
        begun = self._response({"status": "in_progress"})
        yield "response.created", {"response": begun}
        yield "response.in_progress", {"response": begun}

    def _final(self, usage: Usage, report: bytes | None) -> bytes:
        why = self._cut_short
        told = {
            "status": "completed" if why is None else "incomplete",
            "incomplete_details": None if why is None else {"reason": why},
            "completed_at": None if why else int(self._clock.now().timestamp()),
            "output": self._output.items(),
            "usage": self._details.told(usage),
            "service_tier": self._details.service_tier or self._head["service_tier"],
        }
        response = self._response(told)
        if report is not None:
            response[REPORT] = msgspec.Raw(report)
        body = msgspec.json.encode(response)
        if self._keep is None or self._keep(body):
            return body
        return msgspec.json.encode(response | {"store": False})

    def _response(self, told: Mapping[str, Any]) -> dict[str, Any]:
        model = self._details.model or self._head["model"]
        return {**self._head, "model": model, **told}

    def _told(self, events: list[Event]) -> bytes:
        return b"".join([self._event(kind, members) for kind, members in events])

    def _event(self, kind: str, members: Mapping[str, Any]) -> bytes:
        body = {"type": kind, "sequence_number": self._number, **members}
        self._number += 1
        return b"event: " + kind.encode() + b"\n" + sse.event(msgspec.json.encode(body))


def _known_code(status: int) -> str:
    """The word for a failure that OpenAI's own clients know."""
    if status == 429:
        return "rate_limit_exceeded"
    return "invalid_prompt" if status < 500 else "server_error"

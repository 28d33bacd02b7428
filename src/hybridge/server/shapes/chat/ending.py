"""How a stream ends: what is held back so that its last chunk can say everything.

The order that clients rely on is: content, the finish chunk, the usage chunk if it was asked for,
`[DONE]`. Backends put usage in a chunk of its own, on the finish chunk, on every chunk, or nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hybridge.core.response import Chunk, Usage
from hybridge.core.wire import parse, splice

REPORT = "hybridge"
"""The member that carries the report."""
UNUSED = b',"usage":null'
"""Within a JSON string the quotes would be escaped, so these bytes are always a member."""
_HEAD = ("id", "object", "created", "model", "system_fingerprint", "service_tier")


class Ending:
    """Takes chunks one by one, and gives what may be sent already.

    From the finish chunk on, one chunk is always held back: the last one carries the report.
    """

    def __init__(self, *, with_usage: bool) -> None:
        """`with_usage`: whether the caller asked for the usage chunk."""
        self._with_usage = with_usage
        self._held: bytes | None = None
        self._usage: Mapping[str, Any] | None = None

    @property
    def finished(self) -> bool:
        """Whether the backend said that the answer is complete."""
        return self._held is not None

    def take(self, chunk: Chunk) -> bytes | None:
        """The wire to send now; None while there is nothing to send."""
        if chunk.usage is not None or not chunk.has_choices:
            wire = self._without_usage(chunk)
            if wire is None:
                return None
        else:
            wire = chunk.wire if self._with_usage else chunk.wire.replace(UNUSED, b"")
        if self._held is None and chunk.finish_reason is None:
            return wire
        ready, self._held = self._held, wire
        return ready

    def close(self, usage: Usage, report: bytes | None) -> list[bytes]:
        """The last wires, one or two; `usage` is for a backend that said nothing of it.

        `report` is JSON, None to leave it out. Only for a stream that is `finished`.
        """
        if self._held is None:
            raise ValueError("the stream did not finish")
        last = [self._held]
        if self._with_usage:
            told = self._usage or usage_object(usage)
            last.append(msgspec.json.encode(_head(self._held) | {"choices": [], "usage": told}))
        if report is not None:
            last[-1] = splice(last[-1], REPORT, report)
        return last

    def _without_usage(self, chunk: Chunk) -> bytes | None:
        """The chunk's wire once its usage is put aside; None when nothing else was in it."""
        body = parse(chunk.wire)
        self._usage = body.pop("usage", None) or self._usage
        if not chunk.has_choices or (self.finished and not any(map(_says, body["choices"]))):
            return None
        return msgspec.json.encode(body)


def usage_object(usage: Usage) -> dict[str, Any]:
    """Usage on the wire; one that was counted here says so."""
    told: dict[str, Any] = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
    if usage.cached_tokens:
        told["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    return told | {"estimated": True} if usage.estimated else told


def _says(choice: Mapping[str, Any]) -> bool:
    """Whether there is anything in a choice, once choice 0 has finished. Some backends send their
    usage beside an empty one, which clients take for more of the answer."""
    delta = {**(choice.get("delta") or {})}
    if choice.get("index", 0) == 0:
        delta.pop("role", None)
    return bool(choice.get("finish_reason") or choice.get("logprobs") or any(delta.values()))


def _head(wire: bytes) -> dict[str, Any]:
    body = parse(wire)
    return {key: body[key] for key in _HEAD if key in body}

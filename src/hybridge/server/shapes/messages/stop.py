"""Why an answer ended, in Anthropic's words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.response import Chunk, Completion

END_TURN, TOOL_USE, REFUSAL = "end_turn", "tool_use", "refusal"
_REASONS = {
    "length": "max_tokens",
    "tool_calls": TOOL_USE,
    "function_call": TOOL_USE,
    "content_filter": REFUSAL,
}
"""By finish reason; any other is the end of the turn."""
_MARKS = (b'"stop_reason"', b'"matched_stop"')


class Stop(Struct, frozen=True):
    """An ending."""

    reason: str
    sequence: str | None = None
    """The stop sequence that ended it, where the backend tells."""

    @property
    def told(self) -> dict[str, Any]:
        """Its members in a message, or in the delta that ends one."""
        return {"stop_reason": self.reason, "stop_sequence": self.sequence}


class _Choice(Struct):
    index: int = 0
    stop_reason: Any = None
    """vLLM's name for the stop string that was met (a number is a token's)."""
    matched_stop: Any = None
    """SGLang's."""


class _Answer(Struct):
    choices: list[_Choice] | None = None


_decode = msgspec.json.Decoder(_Answer).decode


def stop_of(
    event: Chunk | Completion, sequences: Collection[str], *, called: bool, refused: bool
) -> Stop:
    """The ending that a chunk or an answer with a finish reason tells of.

    `called` and `refused`: whether the answer holds a tool call, or a refusal. `stop` is all that
    OpenAI says of a stop sequence; it counts as the turn's end unless the backend names the string.
    """
    reason = _REASONS.get(event.finish_reason or "")
    if reason is not None:
        return Stop(reason)
    if refused:
        return Stop(REFUSAL)
    if called:
        return Stop(TOOL_USE)
    met = _met(event.wire) if sequences else None
    return Stop("stop_sequence", met) if met in sequences else Stop(END_TURN)


def _met(wire: bytes) -> str | None:
    if not any(mark in wire for mark in _MARKS):
        return None
    choice = next((c for c in _decode(wire).choices or () if c.index == 0), _Choice())
    return next((s for s in (choice.stop_reason, choice.matched_stop) if isinstance(s, str)), None)

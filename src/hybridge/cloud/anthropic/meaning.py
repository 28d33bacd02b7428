"""What the API's words for endings and tokens mean in OpenAI's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.cloud.anthropic.tools import ANSWER_TOOL

_ENDINGS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


def finish_reason(stop_reason: Any, *, calls: int) -> str:
    """`calls`: how many tools were called, the one that gives JSON not counted."""
    ending = _ENDINGS.get(stop_reason, "stop")
    return "stop" if ending == "tool_calls" and not calls else ending


def is_answer(block: Mapping[str, Any], *, schema_as_tool: bool) -> bool:
    """Whether a block that calls a tool is the answer itself, as JSON."""
    return schema_as_tool and block.get("name") == ANSWER_TOOL


def refusal(told: Mapping[str, Any]) -> dict[str, str]:
    """Why the model would not answer, in its own words, as a member of a message or of a delta."""
    explained = (told.get("stop_details") or {}).get("explanation")
    return {"refusal": explained} if explained else {}


def usage(told: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens. OpenAI counts what was cached among the prompt's; Anthropic counts it apart."""
    read = told.get("cache_read_input_tokens") or 0
    written = told.get("cache_creation_input_tokens") or 0
    prompt = (told.get("input_tokens") or 0) + read + written
    answer = told.get("output_tokens") or 0
    made: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }
    if read or written:
        details = {"cached_tokens": read, "cache_creation_tokens": written}
        made["prompt_tokens_details"] = details
    thought = (told.get("output_tokens_details") or {}).get("thinking_tokens")
    if thought:
        made["completion_tokens_details"] = {"reasoning_tokens": thought}
    return made

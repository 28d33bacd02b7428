"""How the answer shall be: told as the chat vocabulary tells it, and as the response repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.server.shapes.faults import only, unsupported
from hybridge.server.shapes.forms import FLAG, OBJECT, TEXT, one_of
from hybridge.server.shapes.responses.fields import LOGPROBS, invalid, may, member
from hybridge.server.shapes.responses.tools import read_choice, read_tools

Said = Mapping[str, Any]
_SAME = (
    "temperature", "top_p", "user", "safety_identifier", "prompt_cache_key",
    "prompt_cache_retention", "service_tier", "stream",
)  # fmt: skip
"""Fields that both vocabularies have."""
_ECHOED = (
    "instructions", "max_output_tokens", "max_tool_calls", "previous_response_id",
    "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier",
    "temperature", "top_p", "user",
)  # fmt: skip
"""Fields that a response repeats as they came, null where they did not."""
_FORMAT = one_of("text", "json_object", "json_schema")
_VERBOSITY = one_of("low", "medium", "high")
_SUMMARY = one_of("auto", "detailed")
_PLAIN = {"context": ("auto", "current_turn"), "mode": ("standard",)}
"""What of reasoning can be had without a word for it in the chat vocabulary."""


def as_chat(said: Said) -> dict[str, Any]:
    """Everything but the messages. Raises `RequestError` that names the field at fault."""
    told = {name: said[name] for name in _SAME if said.get(name) is not None}
    told |= {
        "model": said.get("model"),
        "max_completion_tokens": said.get("max_output_tokens"),
        "stream_options": {"include_usage": True} if said.get("stream") else None,
        **_logprobs(said),
        **_text(said),
        **_reasoning(said),
        **_tools(said),
    }
    return {name: value for name, value in told.items() if value is not None}


def echoed(said: Said) -> dict[str, Any]:
    """What a response repeats of its request, defaults filled in."""
    text, reasoning = said.get("text") or {}, said.get("reasoning") or {}
    return {
        **{name: said.get(name) for name in _ECHOED},
        "background": False,
        "metadata": said.get("metadata") or {},
        "parallel_tool_calls": said.get("parallel_tool_calls") is not False,
        "reasoning": {name: reasoning.get(name) for name in ("effort", "summary")},
        "text": {
            "format": text.get("format") or {"type": "text"},
            "verbosity": text.get("verbosity"),
        },
        "tool_choice": said.get("tool_choice") or "auto",
        "tools": [_whole(tool) for tool in said.get("tools") or ()],
        "top_logprobs": said.get("top_logprobs") or 0,
        "truncation": "disabled",
    }


def wants_logprobs(said: Said) -> bool:
    """Whether the answer's tokens shall come with their probabilities."""
    return LOGPROBS in (said.get("include") or ()) or bool(said.get("top_logprobs"))


def wants_summary(said: Said) -> bool:
    """Whether thoughts shall come as a summary; they are then told in full there."""
    return (said.get("reasoning") or {}).get("summary") is not None


def _logprobs(said: Said) -> dict[str, Any]:
    if not wants_logprobs(said):
        return {}
    return {"logprobs": True, "top_logprobs": said.get("top_logprobs")}


def _text(said: Said) -> dict[str, Any]:
    text = said.get("text")
    if text is None:
        return {}
    only(text, ("format", "verbosity"), "text")
    form = may(text, "format", OBJECT, "text")
    return {
        "verbosity": may(text, "verbosity", _VERBOSITY, "text"),
        "response_format": None if form is None else _format(form, "text.format"),
    }


def _format(form: Said, where: str) -> dict[str, Any]:
    kind = member(form, "type", _FORMAT, where)
    if kind != "json_schema":
        only(form, ("type",), where)
        return {"type": kind}
    only(form, ("type", "name", "description", "schema", "strict"), where)
    told = {
        "name": member(form, "name", TEXT, where),
        "description": may(form, "description", TEXT, where),
        "schema": member(form, "schema", OBJECT, where),
        "strict": may(form, "strict", FLAG, where),
    }
    kept = {name: value for name, value in told.items() if value is not None}
    return {"type": kind, "json_schema": kept}


def _reasoning(said: Said) -> dict[str, Any]:
    reasoning = said.get("reasoning")
    if reasoning is None:
        return {}
    only(reasoning, ("effort", "summary", *_PLAIN), "reasoning")
    for name, plain in _PLAIN.items():
        if reasoning.get(name) is not None and reasoning[name] not in plain:
            raise unsupported(f"reasoning.{name}", f"must be one of {', '.join(plain)} here")
    if reasoning.get("summary") is not None and not _SUMMARY.fits(reasoning["summary"]):
        raise unsupported(
            "reasoning.summary",
            "must be auto or detailed: thoughts are passed on as the model tells them, unshortened",
        )
    return {"reasoning_effort": may(reasoning, "effort", TEXT, "reasoning")}


def _tools(said: Said) -> dict[str, Any]:
    tools, choice = read_tools(said.get("tools") or ()), said.get("tool_choice")
    if not tools:
        # the chat vocabulary takes no choice without tools; not to call any is all there is to do
        if choice not in (None, "auto", "none"):
            raise invalid("tool_choice", "may only be given together with `tools`")
        return {}
    told = {"tools": tools, "parallel_tool_calls": said.get("parallel_tool_calls")}
    return told if choice is None else told | read_choice(choice, tools)


def _whole(tool: Said) -> dict[str, Any]:
    """A tool with every member that OpenAI's own clients look for."""
    defaults = {"description": None, "parameters": None, "strict": False}
    return defaults | {name: value for name, value in tool.items() if value is not None}

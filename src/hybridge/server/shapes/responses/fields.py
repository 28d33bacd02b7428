"""What each field of a responses request must look like; those not listed here are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.server.shapes.faults import check_stream_options, missing, only, unsupported
from hybridge.server.shapes.forms import (
    COUNT,
    FLAG,
    OBJECT,
    OBJECTS,
    TEXT,
    TEXT_OR_OBJECT,
    TEXTS,
    Form,
    check,
    is_object,
    is_text,
    number,
    one_of,
    whole,
)

TEXT_OR_ITEMS = Form(
    lambda value: is_text(value) or (bool(value) and OBJECTS.fits(value)),
    "a string or an array of at least one item",
    {"type": ["string", "array"], "items": {"type": "object"}, "minItems": 1},
)
NOTES = Form(
    lambda value: is_object(value) and len(value) <= 16 and all(map(is_text, value.values())),
    "an object of at most 16 strings",
    {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 16},
)
LOGPROBS = "message.output_text.logprobs"
INCLUDABLE = (
    LOGPROBS,
    "reasoning.encrypted_content",
    "message.input_image.image_url",
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
)
"""What may be asked for in `include`. All but the first change nothing here: the addresses of
pictures are always told, thoughts come in the clear or not at all, and of the tools that OpenAI's
servers would run there never is a result."""

HARMLESS: Mapping[str, Form] = {
    "access_programs": OBJECT,
    "client_metadata": OBJECT,
    "prompt_cache_options": OBJECT,
}
"""Accepted and left aside: they say who asks, and how OpenAI's servers keep the prompt for later.
The first two are Codex's, the last VS Code's."""
FIELDS: Mapping[str, Form] = {
    "model": TEXT,
    "input": TEXT_OR_ITEMS,
    "instructions": TEXT,
    "previous_response_id": TEXT,
    "store": FLAG,
    "stream": FLAG,
    "stream_options": OBJECT,
    "tools": OBJECTS,
    "tool_choice": TEXT_OR_OBJECT,
    "parallel_tool_calls": FLAG,
    "max_tool_calls": COUNT,
    "text": OBJECT,
    "reasoning": OBJECT,
    "max_output_tokens": COUNT,
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "top_logprobs": whole(0, 20),
    "include": TEXTS,
    "truncation": one_of("disabled", "auto"),
    "background": FLAG,
    "metadata": NOTES,
    "user": TEXT,
    "safety_identifier": TEXT,
    "prompt_cache_key": TEXT,
    "prompt_cache_retention": TEXT,
    "service_tier": TEXT,
    **HARMLESS,
}
"""By name (source: OpenAI's responses reference). `max_tool_calls` counts the tools that OpenAI's
servers run; there are none here, so any number is kept to."""

NAMES: Mapping[str, str] = {
    "messages": "input",
    "max_completion_tokens": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "response_format": "text.format",
    "reasoning_effort": "reasoning.effort",
    "verbosity": "text.verbosity",
    "logprobs": "top_logprobs",
}
"""What backends call a field, and what it is called here."""

_WAYS_OUT: Mapping[str, str] = {
    "conversation": "is not supported: continue a chain with `previous_response_id`",
    "prompt": "is not supported, no templates are kept here: send `instructions` and `input`",
}
_STREAM_OPTIONS = ("include_obfuscation", "reasoning_summary_delivery")
_NO_BACKGROUND = "must be false: an answer is given while it is waited for; use `stream: true`"
_NO_TRUNCATION = "must be `disabled`: nothing is cut in silence here; send less, or leave it out"


def check_fields(said: dict[str, Any]) -> None:
    """Raises `RequestError` for the first field that is of a wrong form, or that nobody acts on."""
    for name, why in _WAYS_OUT.items():
        if said.get(name) is not None:
            raise unsupported(name, why)
    only(said, FIELDS)
    check(said, FIELDS)
    if said.get("background"):
        raise unsupported("background", _NO_BACKGROUND)
    if said.get("truncation") == "auto":
        raise unsupported("truncation", _NO_TRUNCATION)
    for index, name in enumerate(said.get("include") or ()):
        if name not in INCLUDABLE:
            raise unsupported(f"include[{index}]", f"must be one of {', '.join(INCLUDABLE)}")
    if (said.get("prompt_cache_options") or {}).get("prewarm"):
        raise unsupported(
            "prompt_cache_options.prewarm", "must be false: every request is answered"
        )
    check_stream_options(said)
    # how summaries are scheduled: here every thought comes when it is told, and none is left out
    only(said.get("stream_options") or {}, _STREAM_OPTIONS, "stream_options")


def member(said: Mapping[str, Any], name: str, form: Form, where: str) -> Any:
    """A member that has to be there. Raises `RequestError`."""
    value = said.get(name)
    if value is None:
        raise missing(f"{where}.{name}", form)
    if not form.fits(value):
        raise invalid(f"{where}.{name}", f"must be {form.said}")
    return value


def may(said: Mapping[str, Any], name: str, form: Form, where: str) -> Any:
    """The same for one that may be missing or null; then it is None."""
    return None if said.get(name) is None else member(said, name, form, where)


def invalid(where: str, why: str) -> RequestError:
    """The error for what is of a wrong form."""
    return RequestError(f"`{where}` {why}", param=where, code="invalid_value")

"""What each known field of a chat request must look like. Unknown fields are not looked at."""

from __future__ import annotations

from collections.abc import Mapping

from hybridge.server.shapes.forms import (
    COUNT,
    FLAG,
    OBJECT,
    OBJECTS,
    TEXT,
    TEXT_OR_OBJECT,
    TEXT_OR_TEXTS,
    WHOLE,
    Form,
    is_number,
    is_object,
    number,
    whole,
)

MOST_CHOICES = 128


def _are_biases(value: object) -> bool:
    return isinstance(value, dict) and all(is_number(v) and abs(v) <= 100 for v in value.values())


BIASES = Form(
    _are_biases,
    "an object of numbers from -100 to 100",
    {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": -100, "maximum": 100},
    },
)
STREAM_OPTIONS = Form(
    lambda value: is_object(value) and isinstance(value.get("include_usage", False), bool),
    "an object, its include_usage true or false",
    {"type": "object", "properties": {"include_usage": {"type": "boolean"}}},
)

FIELDS: Mapping[str, Form] = {
    "model": TEXT,
    "stream": FLAG,
    "stream_options": STREAM_OPTIONS,
    "max_tokens": COUNT,
    "max_completion_tokens": COUNT,
    "n": whole(1, MOST_CHOICES),
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "presence_penalty": number(-2, 2),
    "frequency_penalty": number(-2, 2),
    "seed": WHOLE,
    "logprobs": FLAG,
    "top_logprobs": whole(0, 20),
    "stop": TEXT_OR_TEXTS,
    "tools": OBJECTS,
    "functions": OBJECTS,
    "tool_choice": TEXT_OR_OBJECT,
    "parallel_tool_calls": FLAG,
    "response_format": OBJECT,
    "reasoning_effort": TEXT,
    "logit_bias": BIASES,
    "metadata": OBJECT,
    "user": TEXT,
}
"""By name (source: OpenAI's chat-completions reference)."""

"""What each known field of a chat request must look like. Unknown fields are not looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hybridge.core.errors import RequestError

Check = Callable[[Any], bool]


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 1


def _is_top(value: Any) -> bool:
    return _is_whole(value) and 0 <= value <= 20


def _is_stop(value: Any) -> bool:
    return is_text(value) or (isinstance(value, list) and all(map(is_text, value)))


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_object, value))


def _is_choice(value: Any) -> bool:
    return isinstance(value, str | dict)


FLAG = (_is_flag, "true or false")
NUMBER = (_is_number, "a number")
WHOLE = (_is_whole, "a whole number")
COUNT = (_is_count, "a whole number of at least 1")
TEXT = (is_text, "a string")
OBJECT = (is_object, "an object")
OBJECTS = (_are_objects, "an array of objects")

FIELDS: Mapping[str, tuple[Check, str]] = {
    "model": TEXT,
    "stream": FLAG,
    "stream_options": OBJECT,
    "max_tokens": COUNT,
    "max_completion_tokens": COUNT,
    "n": COUNT,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "presence_penalty": NUMBER,
    "frequency_penalty": NUMBER,
    "seed": WHOLE,
    "logprobs": FLAG,
    "top_logprobs": (_is_top, "a whole number from 0 to 20"),
    "stop": (_is_stop, "a string or an array of strings"),
    "tools": OBJECTS,
    "functions": OBJECTS,
    "tool_choice": (_is_choice, "a string or an object"),
    "parallel_tool_calls": FLAG,
    "response_format": OBJECT,
    "reasoning_effort": TEXT,
    "logit_bias": OBJECT,
    "metadata": OBJECT,
    "user": TEXT,
}
"""Field, how it is checked, and how that is said (source: OpenAI's chat-completions reference)."""


def check(body: Mapping[str, Any]) -> None:
    """Raises `RequestError` for the first known field of a wrong form. `null` means not given."""
    for name, value in body.items():
        if value is not None and name in FIELDS:
            fits, wanted = FIELDS[name]
            if not fits(value):
                raise wrong(name, wanted, value)


def wrong(param: str, wanted: str, value: Any) -> RequestError:
    """The error for a field of a wrong form; it repeats numbers, but never text."""
    return RequestError(
        f"`{param}` must be {wanted}, not {_described(value)}", param=param, code="invalid_value"
    )


def _described(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value}" if abs(value) < 1e15 else "so large a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "an array" if value else "an empty one"
    return "an object"

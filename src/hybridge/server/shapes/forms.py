"""What a field may look like: how it is checked, how that is said, and how it is documented."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from hybridge.core.errors import RequestError

Schema = Mapping[str, Any]
"""JSON Schema 2020-12, as OpenAPI 3.1 uses it."""


class Form(Struct, frozen=True):
    """One kind of value."""

    fits: Callable[[Any], bool]
    said: str
    """Completes the sentence `x must be …`."""
    schema: Schema
    """Allows exactly what `fits`."""


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """`3.0` is a whole number in JSON Schema, and to JavaScript."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_object, value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


FLAG = Form(lambda value: isinstance(value, bool), "true or false", {"type": "boolean"})
WHOLE = Form(is_whole, "a whole number", {"type": "integer"})
COUNT = Form(
    lambda value: is_whole(value) and value >= 1,
    "a whole number of at least 1",
    {"type": "integer", "minimum": 1},
)
TEXT = Form(is_text, "a string", {"type": "string"})
OBJECT = Form(is_object, "an object", {"type": "object"})
OBJECTS = Form(_are_objects, "an array of objects", {"type": "array", "items": {"type": "object"}})
TEXTS = Form(_are_texts, "an array of strings", {"type": "array", "items": {"type": "string"}})
TEXT_OR_TEXTS = Form(
    lambda value: is_text(value) or _are_texts(value),
    "a string or an array of strings",
    {"type": ["string", "array"], "items": {"type": "string"}},
)
TEXT_OR_OBJECT = Form(
    lambda value: isinstance(value, str | dict),
    "a string or an object",
    {"type": ["string", "object"]},
)


def number(low: float, high: float) -> Form:
    """A number within bounds, both allowed."""
    return Form(
        lambda value: is_number(value) and low <= value <= high,
        f"a number from {low:g} to {high:g}",
        {"type": "number", "minimum": low, "maximum": high},
    )


def whole(low: int, high: int) -> Form:
    """A whole number within bounds, both allowed."""
    return Form(
        lambda value: is_whole(value) and low <= value <= high,
        f"a whole number from {low} to {high}",
        {"type": "integer", "minimum": low, "maximum": high},
    )


def one_of(*words: str) -> Form:
    """One of these words."""
    return Form(
        lambda value: is_text(value) and value in words,
        f"one of {', '.join(words)}",
        {"enum": list(words)},
    )


def check(body: dict[str, Any], forms: Mapping[str, Form]) -> None:
    """Raises `RequestError` for the first known field of a wrong form. `null` means not given.

    A whole number that was written like `3.0` becomes `3`: not every engine takes the other.
    """
    for name, value in body.items():
        if value is not None and name in forms:
            form = forms[name]
            if not form.fits(value):
                raise wrong(name, form.said, value)
            if isinstance(value, float) and form.schema.get("type") == "integer":
                body[name] = int(value)


def properties(forms: Mapping[str, Form]) -> dict[str, Any]:
    """The JSON Schema of each field; each may be null, which means not given."""
    return {name: _or_null(form.schema) for name, form in forms.items()}


def wrong(param: str, wanted: str, value: Any) -> RequestError:
    """The error for a field of a wrong form; it repeats numbers, but never text."""
    return RequestError(
        f"`{param}` must be {wanted}, not {_described(value)}", param=param, code="invalid_value"
    )


def _or_null(schema: Schema) -> dict[str, Any]:
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    kind = schema["type"]
    return {**schema, "type": [*([kind] if isinstance(kind, str) else kind), "null"]}


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

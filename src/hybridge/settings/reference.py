"""The tables of docs/reference/configuration.md: `python -m hybridge.settings.reference`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from hybridge.core.config import Section
from hybridge.settings import Settings
from hybridge.settings.schema import entry, item, options, walk

_PLAIN = {
    str: "text",
    int: "whole number",
    float: "number",
    Decimal: "number",
    bool: "true or false",
    Path: "path",
    type(None): "`null`",
}
_BOUNDS = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
_HEAD = ("", "| key | values | default | meaning |", "|---|---|---|---|")


def reference() -> str:
    """A heading and a table for each section, a row for each key; all of it read off `Settings`."""
    return "\n".join(_lines()).strip() + "\n"


def _lines() -> Iterator[str]:
    for key, field in walk(Settings):
        if "." in key:
            meaning = (field.description or "").replace("\n", " ").replace("None:", "null:")
            bounds = "".join(f", {bound}" for bound in _bounds(field))
            values = f"{_values(field.annotation)}{bounds}"
            yield f"| `{key}` | {values} | {_default(field)} | {meaning} |"
        else:
            yield from ("", f"## `{key}`", "", _about(field.annotation), *_HEAD)


def _about(annotation: Any) -> str:
    """What a section's module says of itself, and its own docstring beyond its first words."""
    section = next(o for o in options(annotation) if issubclass(o, Section))
    _, _, more = (section.__doc__ or "").partition(".")
    return f"{sys.modules[section.__module__].__doc__ or ''} {more.strip()}".strip()


def _values(annotation: Any) -> str:
    return ", or ".join(_value(option) for option in options(annotation))


def _value(option: Any) -> str:
    if get_origin(option) is Literal:
        return ", ".join(f"`{str(word).lower()}`" for word in get_args(option))
    if (inside := item(option)) is not None:
        return f"list of {_values(inside)}"
    if (inside := entry(option)) is not None:
        return f"mapping to {_values(inside)}"
    return _PLAIN.get(option, "the keys below")


def _bounds(field: FieldInfo) -> Iterator[str]:
    for rule in field.metadata:
        for name, word in _BOUNDS:
            if getattr(rule, name, None) is not None:
                yield f"{word} {getattr(rule, name)}"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    first = default[0] if isinstance(default, tuple) and default else default
    return "see below" if isinstance(first, Section) else f"`{json.dumps(default, default=float)}`"


if __name__ == "__main__":
    sys.stdout.write(reference())

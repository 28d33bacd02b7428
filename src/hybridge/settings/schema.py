"""Which keys there are: read off the sections themselves, so that nothing can go stale."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from hybridge.core.config import Section
from hybridge.settings.problems import Loc


def options(annotation: Any) -> tuple[Any, ...]:
    """The alternatives of a type, a union's members one by one."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return options(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return tuple(one for option in get_args(annotation) for one in options(option))
    return (annotation,)


def fields(annotation: Any) -> dict[str, FieldInfo]:
    """The keys that may stand in a value of this type; empty when it holds none by name."""
    return {
        name: field
        for option in options(annotation)
        if isinstance(option, type) and issubclass(option, Section)
        for name, field in option.model_fields.items()
    }


def item(annotation: Any) -> Any | None:
    """The type of a list's items; None when it is no list."""
    for option in options(annotation):
        if get_origin(option) in (tuple, list):
            return get_args(option)[0]
    return None


def entry(annotation: Any) -> Any | None:
    """The type of a free mapping's values; None when it is none."""
    for option in options(annotation):
        if get_origin(option) in (dict, Mapping):
            return get_args(option)[1]
    return None


def walk(section: type[Section], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key, dotted, with its field: `edge.backends[].name`. Sections before what they hold."""
    for name, field in section.model_fields.items():
        key = f"{prefix}{name}"
        yield key, field
        inside = item(field.annotation)
        deeper = f"{key}." if inside is None else f"{key}[]."
        for option in options(field.annotation if inside is None else inside):
            if isinstance(option, type) and issubclass(option, Section):
                yield from walk(option, deeper)


def field(section: type[Section], loc: Loc) -> FieldInfo | None:
    """The field that a key is; None for a row, and for a key of a free mapping."""
    found: FieldInfo | None = None
    annotation: Any = section
    for part in loc:
        found = fields(annotation).get(str(part))
        annotation = found.annotation if found else item(annotation) or entry(annotation)
    return found

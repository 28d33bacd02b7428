"""From pydantic's findings to sentences that an operator can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

from hybridge.settings import schema
from hybridge.settings.problems import Loc
from hybridge.settings.variables import Filled

_LONGEST_SHOWN = 60
_VALUE_SAYS_NOTHING = ("value_error", "extra_forbidden", "missing")
_WRONG_SHAPE = ("model_type", "dict_type", "literal_error")


def complaints(
    errors: Sequence[ErrorDetails], data: Any, annotation: Any
) -> Iterator[tuple[Loc, str]]:
    """Each finding about one section's `data`, as a key within it and a sentence."""
    found = [(_real(error, data), error) for error in errors]
    deeper = {loc[:end] for loc, _ in found for end in range(len(loc))}
    told: dict[Loc, list[ErrorDetails]] = {}
    for loc, error in found:
        if error["type"] in _WRONG_SHAPE and loc in deeper:
            continue  # one alternative of a union; the other one was meant, and says more
        told.setdefault(loc, []).append(error)
    for loc, alternatives in told.items():
        said = " or ".join(_sentence(error, loc, annotation) for error in alternatives)
        yield loc, said + _given(alternatives[0])


def unknown(key: str, known: Iterable[str]) -> str:
    """What to say of a key that does not exist."""
    names = sorted(known)
    nearest = get_close_matches(key, names, n=1, cutoff=0.0)
    if not nearest:
        return "there are no keys here; the key above it takes one value"
    return f"unknown key; did you mean `{nearest[0]}`? Known here: {', '.join(names)}"


def _real(error: ErrorDetails, data: Any) -> Loc:
    """The key without the names of a union's alternatives, which pydantic puts in between."""
    loc, real = error["loc"], list[str | int]()
    for position, part in enumerate(loc, 1):
        absent = position == len(loc) and error["type"] == "missing"
        if isinstance(data, Mapping) and (part in data or absent):
            real.append(part)
            data = data.get(part)
        elif isinstance(data, Sequence) and not isinstance(data, str) and isinstance(part, int):
            real.append(part)
            data = data[part] if part < len(data) else None
    return tuple(real)


def _sentence(error: ErrorDetails, loc: Loc, annotation: Any) -> str:
    if error["type"] == "extra_forbidden":
        return unknown(str(loc[-1]), schema.fields(_around(loc, annotation)))
    if error["type"] == "missing":
        return "is missing"
    said = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    if error["type"] in ("tuple_type", "list_type"):
        said = "must be a list (in an environment variable: as JSON)"
    if error["type"] in ("model_type", "model_attributes_type"):
        names = ", ".join(schema.fields(_at(loc, annotation)))
        said = f"must hold keys, of these: {names}"
    return said


def _given(error: ErrorDetails) -> str:
    """The value at fault, unless it may hold a password or says nothing."""
    value = error["input"]
    if error["type"] in _VALUE_SAYS_NOTHING or isinstance(value, Filled):
        return ""
    if not isinstance(value, str | int | float | bool):
        return ""
    shown = repr(value)
    return "" if "://" in shown or len(shown) > _LONGEST_SHOWN else f", not {shown}"


def _around(loc: Loc, annotation: Any) -> Any:
    return _at(loc[:-1], annotation)


def _at(loc: Loc, annotation: Any) -> Any:
    for part in loc:
        field = schema.fields(annotation).get(str(part))
        if field is not None:
            annotation = field.annotation
        else:
            annotation = schema.item(annotation) or schema.entry(annotation)
    return annotation

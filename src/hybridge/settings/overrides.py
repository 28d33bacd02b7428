"""`HYBRIDGE_<SECTION>__<KEY>`: the environment on top of the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from hybridge.core.config import Section
from hybridge.settings import schema
from hybridge.settings.complaints import unknown
from hybridge.settings.problems import Loc, Problem

PREFIX = "HYBRIDGE_"
_SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class Overridden:
    """Data with the environment's values in it."""

    data: dict[str, Any]
    variables: Mapping[Loc, str]
    """Which variable set which key."""
    problems: tuple[Problem, ...]

    def variable(self, loc: Loc) -> str | None:
        """The variable that a key, or what it lies in, came from."""
        around = (loc[:end] for end in range(len(loc), 0, -1))
        return next((self.variables[some] for some in around if some in self.variables), None)


def override(
    data: Mapping[str, Any], environ: Mapping[str, str], settings: type[Section]
) -> Overridden:
    """Lays every `HYBRIDGE_…__…` variable over `data`; those that name no key become problems."""
    merged, variables, problems = deepcopy(dict(data)), {}, []
    for name in sorted(environ):
        if name.startswith(PREFIX) and _SEPARATOR in name:
            loc, problem = _resolve(name, settings)
            if problem is None and not _put(merged, loc, _value(environ[name]), settings):
                problem = Problem(_variable(name), loc, "there is no such row to set it in")
            if problem is None:
                variables[loc] = _variable(name)
            else:
                problems.append(problem)
    return Overridden(merged, variables, tuple(problems))


def _resolve(name: str, settings: type[Section]) -> tuple[Loc, Problem | None]:
    """The key that a variable means."""
    loc: Loc = ()
    annotation: Any = settings
    for part in name.removeprefix(PREFIX).split(_SEPARATOR):
        known = schema.fields(annotation)
        if part.lower() in known:
            loc, annotation = (*loc, part.lower()), known[part.lower()].annotation
        elif schema.item(annotation) is not None and part.isdecimal():
            loc, annotation = (*loc, int(part)), schema.item(annotation)
        elif schema.entry(annotation) is not None:
            loc, annotation = (*loc, part), schema.entry(annotation)
        else:
            here = (*loc, part.lower())
            what = unknown(part.lower(), known)
            return here, Problem(_variable(name), here, what)
    return loc, None


def _variable(name: str) -> str:
    return f"environment variable {name}"


def _value(text: str) -> Any:
    """JSON for lists, mappings and null; anything else as it stands, for its field to read."""
    if text.strip()[:1] in ("[", "{") or text.strip() == "null":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _put(data: dict[str, Any], loc: Loc, value: Any, settings: type[Section]) -> bool:
    """Sets one key; what it lies in is made where missing, from its default if it has one.

    False when it would lie in a row that does not exist.
    """
    into: Any = data
    annotation: Any = settings
    for part, following in pairwise(loc):
        field = schema.fields(annotation).get(str(part))
        if isinstance(into, dict) and into.get(str(part)) is None:
            into[str(part)] = _plain(field.get_default(call_default_factory=True)) if field else {}
        if not _has(into, part):
            return False
        holder: Any = into
        into = holder[part]
        annotation = field.annotation if field else schema.item(annotation)
        if isinstance(following, int) and isinstance(into, list) and following == len(into):
            into.append({})
    if not isinstance(into, dict) and not _has(into, loc[-1]):
        return False
    target: Any = into
    target[loc[-1]] = value
    return True


def _has(into: Any, part: str | int) -> bool:
    if isinstance(into, list):
        return isinstance(part, int) and part < len(into)
    return isinstance(into, dict) and part in into


def _plain(default: Any) -> Any:
    """A default as data: only what it sets itself, so that its type's own rules still hold."""
    if isinstance(default, BaseModel):
        return default.model_dump(mode="json", exclude_unset=True)
    if isinstance(default, tuple | list):
        return [_plain(one) for one in default]
    return deepcopy(default) if isinstance(default, dict) else {}

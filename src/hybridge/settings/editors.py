"""The configuration's JSON Schema, for editors that complete and check YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybridge.settings.settings import Settings

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = {"type": "string", "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$"}
"""`${NAME}`, which may stand for any single value."""
_SINGLE = ("boolean", "integer", "number")


def json_schema() -> dict[str, Any]:
    """What a `hybridge.yaml` may hold, each key with its docstring as its description.

    It accepts whatever `settings.load` accepts, so far as a schema can tell.
    """
    schema = _open(Settings.model_json_schema())
    sections = {name: _or(field, {"type": "null"}) for name, field in schema["properties"].items()}
    title = {"$schema": DIALECT, "title": "hybridge.yaml"}
    return title | {**schema, "properties": sections, **title}


def _open(schema: Any) -> Any:
    """The schema with `${NAME}` allowed wherever a number or a yes or no is wanted."""
    if isinstance(schema, list):
        return [_open(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    opened = {key: _open(value) for key, value in schema.items()}
    return _or(opened, _REFERENCE) if opened.get("type") in _SINGLE else opened


def _or(schema: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Either of them, with what is said about the first one said about both."""
    about = {key: schema[key] for key in ("title", "description", "default") if key in schema}
    rules = {key: value for key, value in schema.items() if key not in about}
    return about | {"anyOf": [*rules.pop("anyOf", [rules] if rules else []), other]}

"""A value that fits a JSON schema."""

from __future__ import annotations

from typing import Any

TEXT = "Zoë, 北京 👩‍🔬"
_PLAIN = {"string": TEXT, "integer": 3, "number": 2.5, "boolean": True, "null": None}


def sample(schema: dict[str, Any]) -> Any:
    """One that fits, with every member that the schema names."""
    return _sample(schema, schema)


def _sample(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _sample(_resolved(schema["$ref"], root), root)
    if "const" in schema or "enum" in schema:
        return schema.get("const", next(iter(schema.get("enum", ())), None))
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _sample(schema[several][0], root)
    return _of_kind(schema, root)


def _of_kind(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        members = schema.get("properties") or {}
        return {name: _sample(member, root) for name, member in members.items()}
    if kind == "array":
        return [_sample(schema.get("items") or {"type": "string"}, root)]
    return _PLAIN[kind]


def _resolved(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    for step in reference.removeprefix("#").split("/")[1:]:
        root = root[step]
    return root

"""Schemas that several paths share."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.core.report import Report

REF = "#/components/schemas/{name}"


def ref(name: str) -> dict[str, str]:
    """A reference to a shared schema."""
    return {"$ref": REF.format(name=name)}


def report() -> dict[str, Any]:
    """`Report` and what it is made of, by name; money is a number on the wire."""
    _, parts = msgspec.json.schema_components([Report], ref_template=REF)
    return {name: _with_money(part) for name, part in parts.items()}


def _with_money(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_money(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return {"type": "number"}
    return {key: _with_money(part) for key, part in schema.items()}


_NULLABLE_TEXT = {"type": ["string", "null"]}
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": _NULLABLE_TEXT,
                "code": _NULLABLE_TEXT,
            },
        }
    },
}
USAGE = {
    "type": "object",
    "required": ["prompt_tokens", "completion_tokens", "total_tokens"],
    "properties": {
        "prompt_tokens": {"type": "integer"},
        "completion_tokens": {"type": "integer"},
        "total_tokens": {"type": "integer"},
        "estimated": {
            "type": "boolean",
            "description": "Counted by the gateway, since the backend said nothing.",
        },
    },
}
STATUS = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"type": "string"}, "reason": _NULLABLE_TEXT},
}
MODEL = {
    "type": "object",
    "required": ["id", "object", "created", "owned_by"],
    "properties": {
        "id": {"type": "string"},
        "object": {"const": "model"},
        "created": {"type": "integer", "description": "Unix seconds."},
        "owned_by": {"type": "string"},
        "type": {"const": "model"},
        "display_name": {"type": "string"},
        "created_at": {"type": "string", "format": "date-time"},
        "hybridge": {
            "type": "object",
            "description": "Tier, the provider's own name, features, context and locality.",
        },
    },
}
MODELS = {
    "type": "object",
    "required": ["object", "data"],
    "properties": {"object": {"const": "list"}, "data": {"type": "array", "items": ref("Model")}},
}

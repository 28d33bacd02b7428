"""A response as JSON Schema: the request, the answer, and what is told of one later."""

from __future__ import annotations

from typing import Any

from hybridge.server.shapes.forms import properties
from hybridge.server.shapes.responses.fields import FIELDS

_TEXT = {"type": "string"}
_ITEM = {"type": "object", "properties": {"type": _TEXT}}
REQUEST: dict[str, Any] = {
    "type": "object",
    "description": "OpenAI's response. A field that is not listed is refused.",
    "required": ["input"],
    "properties": properties(FIELDS) | {"input": FIELDS["input"].schema},
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "required": ["id", "object", "created_at", "status", "model", "output"],
    "properties": {
        "id": _TEXT,
        "object": {"const": "response"},
        "created_at": {"type": "number"},
        "status": {"enum": ["completed", "incomplete", "failed", "in_progress"]},
        "model": _TEXT,
        "output": {"type": "array", "items": _ITEM},
        "usage": {"type": ["object", "null"]},
        "previous_response_id": {"type": ["string", "null"]},
        "hybridge": {"$ref": "#/components/schemas/Report"},
    },
}
DELETED: dict[str, Any] = {
    "type": "object",
    "required": ["id", "object", "deleted"],
    "properties": {
        "id": _TEXT,
        "object": {"const": "response"},
        "deleted": {"const": True},
    },
}
ITEMS: dict[str, Any] = {
    "type": "object",
    "required": ["object", "data", "has_more"],
    "properties": {
        "object": {"const": "list"},
        "data": {"type": "array", "items": _ITEM},
        "has_more": {"type": "boolean"},
        "first_id": {"type": ["string", "null"]},
        "last_id": {"type": ["string", "null"]},
    },
}

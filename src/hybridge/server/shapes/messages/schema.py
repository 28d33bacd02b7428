"""A message as JSON Schema: the request that `parse` takes, the answer, and the error."""

from __future__ import annotations

from typing import Any

from hybridge.server.shapes.forms import properties
from hybridge.server.shapes.messages.fields import FIELDS

_TEXT = {"type": "string"}
_BLOCK = {"type": "object", "required": ["type"], "properties": {"type": _TEXT}}
_TURN = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"enum": ["user", "assistant", "system"]},
        "content": {"type": ["string", "array"], "items": _BLOCK},
    },
}
_PROMPT = {
    "messages": {"type": "array", "minItems": 1, "items": _TURN},
}
REQUEST: dict[str, Any] = {
    "type": "object",
    "description": "Anthropic's message. A field that is not listed is refused.",
    "required": ["messages", "max_tokens"],
    "properties": properties(FIELDS) | _PROMPT | {"max_tokens": FIELDS["max_tokens"].schema},
}
COUNT_REQUEST: dict[str, Any] = REQUEST | {"required": ["messages"]}
COUNT: dict[str, Any] = {
    "type": "object",
    "required": ["input_tokens"],
    "properties": {"input_tokens": {"type": "integer"}},
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "required": ["id", "type", "role", "model", "content", "stop_reason", "usage"],
    "properties": {
        "id": _TEXT,
        "type": {"const": "message"},
        "role": {"const": "assistant"},
        "model": _TEXT,
        "content": {"type": "array", "items": _BLOCK},
        "stop_reason": {"type": ["string", "null"]},
        "stop_sequence": {"type": ["string", "null"]},
        "usage": {
            "type": "object",
            "required": ["input_tokens", "output_tokens"],
            "properties": {
                "input_tokens": {"type": "integer"},
                "output_tokens": {"type": "integer"},
            },
        },
        "hybridge": {"$ref": "#/components/schemas/Report"},
    },
}
ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["type", "error"],
    "properties": {
        "type": {"const": "error"},
        "error": {
            "type": "object",
            "required": ["type", "message"],
            "properties": {"type": _TEXT, "message": _TEXT},
        },
        "request_id": {"type": ["string", "null"]},
    },
}

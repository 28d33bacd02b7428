"""A chat completion as JSON Schema: the request that `parse` takes, the answer that it leads to."""

from __future__ import annotations

from typing import Any

from hybridge.server.shapes.chat.fields import FIELDS
from hybridge.server.shapes.chat.messages import ROLES, SILENT
from hybridge.server.shapes.chat.parse import FORMATS
from hybridge.server.shapes.forms import properties
from hybridge.server.shapes.images import PATTERN

_TEXT = {"type": "string"}


def _holding(kind: str, member: str, held: dict[str, Any]) -> dict[str, Any]:
    """A part of this type has this member."""
    return {
        "if": {"properties": {"type": {"const": kind}}},
        "then": {"required": [member], "properties": {member: held}},
    }


def _having(member: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": [member], "properties": {member: value}}


_PART = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": _TEXT},
    "allOf": [
        _holding("text", "text", _TEXT),
        _holding("refusal", "refusal", _TEXT),
        _holding("image_url", "image_url", _having("url", {"type": "string", "pattern": PATTERN})),
        _holding("input_audio", "input_audio", _having("data", _TEXT)),
        _holding("file", "file", {"type": "object"}),
    ],
}
_CALL = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "type": _TEXT,
        "function": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": _TEXT, "arguments": _TEXT},
        },
    },
    "if": {"properties": {"type": {"const": "function"}}},
    "then": {"required": ["function"]},
}
_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"enum": list(ROLES)},
        "content": {"type": ["string", "array", "null"], "items": _PART},
        "tool_calls": {"type": ["array", "null"], "items": _CALL},
    },
    "if": {"properties": {"role": {"enum": [r for r in ROLES if r not in SILENT]}}},
    "then": {
        "required": ["content"],
        "properties": {"content": {"type": ["string", "array"], "minItems": 1}},
    },
}

REQUEST: dict[str, Any] = {
    "type": "object",
    "description": "OpenAI's chat completion; fields not listed are passed on as they are.",
    "required": ["messages"],
    "properties": properties(FIELDS)
    | {
        "messages": {"type": "array", "minItems": 1, "items": _MESSAGE},
        "response_format": {
            "type": ["object", "null"],
            "properties": {"type": {"enum": list(FORMATS)}},
            "required": ["type"],
        },
    },
    "allOf": [
        {
            "if": {
                "required": ["stream_options"],
                "properties": {"stream_options": {"type": "object"}},
            },
            "then": {"required": ["stream"], "properties": {"stream": {"const": True}}},
        },
        {
            "if": {
                "required": ["top_logprobs"],
                "properties": {"top_logprobs": {"type": "integer", "minimum": 1}},
            },
            "then": {"required": ["logprobs"], "properties": {"logprobs": {"const": True}}},
        },
    ],
}

_TOLD = {
    "type": "object",
    "properties": {
        "role": _TEXT,
        "content": {"type": ["string", "null"]},
        "tool_calls": {"type": ["array", "null"], "items": {"type": "object"}},
    },
}
_FINISH = {"type": ["string", "null"]}


def _answer(kind: str, member: str) -> dict[str, Any]:
    choice = {
        "type": "object",
        "required": ["index", member],
        "properties": {"index": {"type": "integer"}, member: _TOLD, "finish_reason": _FINISH},
    }
    return {
        "type": "object",
        "required": ["choices"],
        "properties": {
            "id": _TEXT,
            "object": {"const": kind},
            "created": {"type": "integer"},
            "model": _TEXT,
            "choices": {"type": "array", "items": choice},
            "usage": {"anyOf": [{"$ref": "#/components/schemas/Usage"}, {"type": "null"}]},
            "hybridge": {"$ref": "#/components/schemas/Report"},
        },
    }


ANSWER = _answer("chat.completion", "message")
CHUNK = _answer("chat.completion.chunk", "delta")

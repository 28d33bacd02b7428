"""A text completion as JSON Schema."""

from __future__ import annotations

from typing import Any

from hybridge.server.shapes.completions.request import FIELDS
from hybridge.server.shapes.forms import properties

REQUEST: dict[str, Any] = {
    "type": "object",
    "description": "OpenAI's legacy completion, of one prompt. A field not listed is refused.",
    "required": ["prompt"],
    "properties": properties(FIELDS) | {"prompt": FIELDS["prompt"].schema},
}
ANSWER: dict[str, Any] = {
    "type": "object",
    "required": ["id", "object", "created", "model", "choices"],
    "properties": {
        "id": {"type": "string"},
        "object": {"const": "text_completion"},
        "created": {"type": "integer"},
        "model": {"type": "string"},
        "choices": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["index", "text", "finish_reason"],
                "properties": {
                    "index": {"type": "integer"},
                    "text": {"type": "string"},
                    "finish_reason": {"type": ["string", "null"]},
                    "logprobs": {"type": ["object", "null"]},
                },
            },
        },
        "usage": {"anyOf": [{"$ref": "#/components/schemas/Usage"}, {"type": "null"}]},
        "hybridge": {"$ref": "#/components/schemas/Report"},
    },
}

"""What each field of a messages request must look like; those not listed here are refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hybridge.core.errors import RequestError
from hybridge.server.shapes.forms import (
    COUNT,
    FLAG,
    OBJECT,
    OBJECTS,
    TEXT,
    TEXTS,
    Form,
    is_object,
    is_text,
    is_whole,
    number,
)

TEXT_OR_BLOCKS = Form(
    lambda value: is_text(value) or (isinstance(value, list) and all(map(is_object, value))),
    "a string or an array of blocks",
    {"type": ["string", "array"], "items": {"type": "object"}},
)
SEQUENCES = Form(
    lambda value: isinstance(value, list) and all(is_text(item) and item for item in value),
    "an array of strings that are not empty",
    {"type": "array", "items": {"type": "string", "minLength": 1}},
)
TOP_K = Form(
    lambda value: is_whole(value) and value >= 0,
    "a whole number of at least 0",
    {"type": "integer", "minimum": 0},
)

HARMLESS: Mapping[str, Form] = {
    "anthropic_beta": TEXTS,
    "anthropic_version": TEXT,
    "cache_control": OBJECT,
    "diagnostics": OBJECT,
    "service_tier": TEXT,
    "speed": TEXT,
}
"""Accepted and left aside: they settle what an answer costs or how fast it comes, not what it says.
The first two come as headers, or in the body from clients of a cloud's own endpoint."""
FIELDS: Mapping[str, Form] = {
    "model": TEXT,
    "max_tokens": COUNT,
    "messages": OBJECTS,
    "system": TEXT_OR_BLOCKS,
    "stream": FLAG,
    "temperature": number(0, 1),
    "top_p": number(0, 1),
    "top_k": TOP_K,
    "stop_sequences": SEQUENCES,
    "tools": OBJECTS,
    "tool_choice": OBJECT,
    "thinking": OBJECT,
    "output_config": OBJECT,
    "output_format": OBJECT,
    "metadata": OBJECT,
    "context_management": OBJECT,
    **HARMLESS,
}
"""By name (source: Anthropic's messages reference)."""


def at(where: str, member: str | int) -> str:
    """The path of a member, as Anthropic writes it: `messages.0.content.1.source`."""
    return f"{where}.{member}" if where else str(member)


def only(said: Mapping[str, Any], known: Collection[str], where: str = "") -> None:
    """Raises `RequestError` for a member that nobody here would act on. `null` asks for nothing."""
    for name, value in said.items():
        if value is not None and name not in known:
            raise unsupported(at(where, name), "is not supported by this gateway")


def missing(where: str, form: Form) -> RequestError:
    """The error for a field that has to be there."""
    return RequestError(
        f"`{where}` is missing; it must be {form.said}", param=where, code="missing_field"
    )


def unsupported(where: str, why: str) -> RequestError:
    """The error for what is well formed, but cannot be done here."""
    return RequestError(f"`{where}` {why}", param=where, code="unsupported_parameter")

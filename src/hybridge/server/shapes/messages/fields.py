"""What each field of a messages request must look like; those not listed here are refused."""

from __future__ import annotations

from collections.abc import Mapping

from hybridge.server.shapes.forms import (
    COUNT,
    FLAG,
    OBJECT,
    OBJECTS,
    TEXT,
    TEXTS,
    Form,
    is_text,
    is_whole,
    number,
    one_of,
)

TEXT_OR_BLOCKS = Form(
    lambda value: is_text(value) or OBJECTS.fits(value),
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
    "fallbacks": one_of("default"),
    "safeguards": OBJECTS,
    "service_tier": TEXT,
    "speed": TEXT,
}
"""Accepted and left aside: they settle what an answer costs, how fast it comes or what is noted of
it, not what it says. The first two come as headers, or in the body from clients of a cloud's own
endpoint. `fallbacks` are the model's own there, of which a model may have none; `safeguards` ask
for a second opinion of Anthropic's servers on what tools do, and Claude Code does without."""
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
    return f"{where}.{member}"

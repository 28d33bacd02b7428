"""What a GGUF model is taken to be able to do, where nobody has measured it or says otherwise."""

from __future__ import annotations

from pathlib import Path

from hybridge.core.errors import ModelError
from hybridge.core.request import Feature
from hybridge.edge.gguf import read_template

OF_THE_ENGINE = frozenset({Feature.JSON, Feature.JSON_SCHEMA, Feature.LOGPROBS, Feature.CHOICES})
"""A grammar holds any model to JSON; probabilities and further choices are the engine's own."""
POSSIBLE = OF_THE_ENGINE | {Feature.TOOLS}
"""What there is to be named in the configuration."""


def abilities(gguf: Path) -> frozenset[Feature]:
    """The engine's, and tools where the chat template tells the model how to call them.

    A file that cannot be read has only the engine's; whoever loads it will say what is wrong.
    """
    try:
        template = read_template(gguf)
    except ModelError:
        return OF_THE_ENGINE
    return OF_THE_ENGINE | {Feature.TOOLS} if tells_of_tools(template) else OF_THE_ENGINE


def tells_of_tools(template: str) -> bool:
    """Whether a chat template, Jinja, asks for calls in the form that is read here."""
    return "<tool_call>" in template and "tools" in template

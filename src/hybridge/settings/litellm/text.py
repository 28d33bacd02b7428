"""A converted configuration as an operator would have written it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

_ABOUT = {
    "server": "LiteLLM's port. It listens on this machine only; `host: 0.0.0.0` needs an API key.",
    "edge": "Models of this device. What is easy or private is answered here.",
    "cloud": "Models elsewhere. What is hard is answered by the first of them that can.",
    "routing": "For callers that name a model. `model: auto` finds its own way.",
    "execution": "Seconds for a whole request; when a backend is left alone, and for how long.",
    "budget": "USD, all keys together.",
    "cache": "Answers of the edge that may be given again.",
}


def text(origin: str, settings: Mapping[str, Any], notes: Sequence[str]) -> str:
    """YAML with a comment over each section and, at its end, what did not become part of it."""
    return "\n".join(_lines(origin, settings, notes)) + "\n"


def _lines(origin: str, settings: Mapping[str, Any], notes: Sequence[str]) -> Iterator[str]:
    yield f"# Converted from LiteLLM's {origin}. `hybridge config check` says whether it is sound."
    for name, about in _ABOUT.items():
        if name in settings:
            yield from ("", f"# {about}")
            yield yaml.safe_dump(
                {name: settings[name]}, sort_keys=False, allow_unicode=True, width=100
            ).rstrip()
    if notes:
        yield from ("", f"# Of {origin}, this is not above or not as it was there:")
        yield from (f"# - {note}" for note in notes)

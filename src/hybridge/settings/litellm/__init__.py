"""From a LiteLLM proxy's config.yaml to a hybridge.yaml (R73)."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from hybridge.settings.document import read
from hybridge.settings.litellm.fallbacks import fallbacks
from hybridge.settings.litellm.models import models
from hybridge.settings.litellm.sections import sections
from hybridge.settings.litellm.source import Source
from hybridge.settings.litellm.text import text


class Converted(Struct, frozen=True):
    """A hybridge.yaml, and what of the other file is not in it."""

    text: str
    notes: tuple[str, ...]
    """Each with its line and key; no value of a secret is among them."""


def convert(path: Path) -> Converted:
    """Every key of the file is either taken over or noted, so that nothing is lost in silence.

    Raises `ConfigError` for what is no YAML.
    """
    source = Source(read(path))
    rows = models(source)
    routing = fallbacks(source, rows)
    settings = sections(source, rows) | ({"routing": {"fallbacks": routing}} if routing else {})
    source.note_rest()
    notes = tuple(f"line {note.line}: {note.key}: {note.what}" for note in source.notes)
    return Converted(text(path.name, settings, notes), notes)

"""Texts with labels: what a model is measured on. Ours, in English and Chinese, or the user's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from hybridge.core.errors import ConfigError

SHIPPED = Path(__file__).parent / "assets" / "labelled_texts.jsonl"
"""Twelve subjects, fifteen sentences each in English and in Chinese; our own, Apache-2.0."""


class Labelled(Struct, frozen=True):
    """One line of a test."""

    text: str
    label: str | None = None
    language: str = "all"
    """Figures are told apart by it."""


def read(path: Path = SHIPPED, *, labels: bool = True) -> list[Labelled]:
    """The lines of a JSONL file: `text`, `label` and perhaps `language`.

    Raises `ConfigError` that names the file and the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    found = [
        _line(line, f"{path}, line {number}", labels=labels)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not found:
        raise ConfigError(f"{path} holds no text: a line each, of JSON with `text`")
    return found


def spread(texts: Sequence[Labelled], most: int) -> list[Labelled]:
    """At most `most` of them, evenly from the whole, so that each label and language has some."""
    if len(texts) <= most:
        return list(texts)
    return [texts[place * len(texts) // most] for place in range(most)]


def _line(line: str, place: str, *, labels: bool) -> Labelled:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{place}: not JSON: {error}") from error
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not row["text"]:
        raise ConfigError(f"{place}: wants an object with `text`, which is not empty")
    label = row.get("label")
    if labels and (isinstance(label, bool) or not isinstance(label, str | int)):
        raise ConfigError(f"{place}: `label` is a text or a whole number")
    language = row.get("language", "all")
    return Labelled(row["text"], None if label is None else str(label), str(language))

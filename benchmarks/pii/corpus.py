"""Labelled texts, one JSON object a line: `text`, `spans` of `start`, `end` and `type`."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

SETS = ("gen_zh", "gen_en", "presidio_synth_en", "evasion", "ordinary_prompts", "tricky_negatives")

STRUCTURED = frozenset(
    {
        *("ACCOUNT", "BANK_CARD", "CN_ID", "EMAIL", "IBAN", "IP", "PASSPORT", "PHONE", "PLATE"),
        *("SECRET", "USCC", "US_SSN"),
    }
)
"""Types with a form of their own. Names, addresses and dates are counted apart."""


class Span(Struct, frozen=True):
    """Where personal data stands in a text."""

    start: int
    end: int
    type: str


class Sample(Struct, frozen=True):
    """One text with its labels."""

    text: str
    spans: tuple[Span, ...]
    lang: str = ""
    transform: str = ""
    """How a value of `evasion` is disguised."""
    context: bool = False
    """Whether words around it say what the value is."""


def read(folder: Path) -> dict[str, list[Sample]]:
    """Every set by its name. Raises FileNotFoundError, in words, when one is missing."""
    missing = [name for name in SETS if not (folder / f"{name}.jsonl").is_file()]
    if missing:
        raise FileNotFoundError(
            f"no {', '.join(f'{name}.jsonl' for name in missing)} in {folder}; "
            "name the folder with the labelled texts with --data"
        )
    decoder = msgspec.json.Decoder(Sample)
    files = {name: (folder / f"{name}.jsonl").read_bytes() for name in SETS}
    return {name: decoder.decode_lines(lines) for name, lines in files.items()}

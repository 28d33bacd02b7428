"""What a detector reports: personal data, of which kind, where, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from msgspec import Struct

TYPES = frozenset(
    {
        "ACCOUNT",
        "ADDRESS",
        "BANK_CARD",
        "CN_ID",
        "DOB",
        "EMAIL",
        "IBAN",
        "IP",
        "PASSPORT",
        "PERSON",
        "PHONE",
        "PLATE",
        "SECRET",
        "USCC",
        "US_SSN",
    }
)
"""Every kind of data that the shipped detectors know (R30), and so every key of `privacy.types`."""


class Level(IntEnum):
    """How sure a detector is. `LOW` is kept for the record and never acted on."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


class Finding(Struct, frozen=True):
    """One piece of personal data. It holds where the value is, never the value itself."""

    type: str
    """One of `TYPES`."""
    start: int
    """Index of its first character in the text that was given to the detectors."""
    end: int
    """Index after its last character."""
    level: Level
    place: str = ""
    """Which part of a request holds it, e.g. `messages[1]`; empty for a text on its own."""


def told(findings: Iterable[Finding]) -> tuple[str, ...]:
    """`CN_ID in messages[0]`, each once; weak signs are not told."""
    sure = (finding for finding in findings if finding.level is not Level.LOW)
    return tuple(dict.fromkeys(f"{finding.type} in {finding.place}" for finding in sure))

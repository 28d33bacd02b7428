"""统一社会信用代码, the number of a Chinese company or of a trader who is his own company."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy import cues
from hybridge.privacy.checksums import social_credit_code
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_WHOLE = re.compile(
    r"[159YNlI][1239Il][1-6lI](?<![0-9A-Za-z]...)[0-9OIl]{5}[0-9A-RTUWXYl]{10}(?![0-9A-Za-z])"
)
_GAP = r"[ \-.\n]{0,4}+"
_SPACED = re.compile(
    rf"[159YNlI](?<![0-9A-Za-z].)(?<![0-9][ \-.].){_GAP}[1239Il]{_GAP}[1-6lI]"
    rf"(?:{_GAP}[0-9OIl]){{5}}(?:{_GAP}[0-9A-RTUWXYl]){{10}}(?![0-9A-Za-z])"
)
_SPACING = re.compile(r"[ \-.\n]")
_LETTER = re.compile("[A-Z]")
_MIXED = re.compile(r"[0-9][ \-.\n]{0,4}+[A-Z][0-9A-Z]?[ \-.\n]{0,4}+[0-9A-Z]")
"""A letter among digits, as spaced codes nearly always have."""
_FROM_LETTERS = str.maketrans("OIl", "011")
"""The alphabet has no I and no O, so where they stand a digit is meant."""


def detect(view: View) -> Iterator[Finding]:
    """Codes whose check character is right; spaced ones only with a letter in them or a name."""
    for match in view.matches(_WHOLE, "USCC"):
        if _checked(match.group()):
            yield Finding("USCC", *match.span(), Level.MEDIUM)
    if _MIXED.search(view.text) or cues.SOCIAL_CREDIT.search(view.lower):
        yield from _spaced(view)


def _spaced(view: View) -> Iterator[Finding]:
    for match in view.matches(_SPACED, "USCC"):
        code = _SPACING.sub("", match.group())
        if not _checked(code):
            continue
        letter = _LETTER.search(code, 8)
        if letter or view.near(cues.SOCIAL_CREDIT, *match.span()):
            yield Finding("USCC", *match.span(), Level.MEDIUM)


def _checked(written: str) -> bool:
    return social_credit_code(written.translate(_FROM_LETTERS))

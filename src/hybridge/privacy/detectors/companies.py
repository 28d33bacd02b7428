"""统一社会信用代码, the number of a Chinese company or of a trader who is his own company."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy import cues
from hybridge.privacy.checksums import social_credit_code
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_GAP = r"[ \-.\n]{0,4}+"
_CODE = re.compile(
    rf"[159YNlI](?<![0-9A-Za-z].){_GAP}[1239Il]{_GAP}[1-6lI](?:{_GAP}[0-9OIl]){{5}}"
    rf"(?:{_GAP}[0-9A-RTUWXYl]){{10}}(?![0-9A-Za-z])"
)
_SPACING = re.compile(r"[ \-.\n]")
_LETTER = re.compile("[A-Z]")
_FROM_LETTERS = str.maketrans("OIl", "011")
"""The alphabet has no I and no O, so where they stand a digit is meant."""


def detect(view: View) -> Iterator[Finding]:
    """Codes whose check character is right; spaced ones only with a letter in them or a name."""
    for match in view.matches(_CODE, "USCC"):
        written = _SPACING.sub("", match.group())
        code = written.translate(_FROM_LETTERS)
        if not social_credit_code(code):
            continue
        whole = len(written) == len(match.group())
        if whole or _LETTER.search(code[8:]) or view.near(cues.SOCIAL_CREDIT, *match.span()):
            yield Finding("USCC", *match.span(), Level.MEDIUM)

"""Chinese licence plates, old and new energy, with gaps of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_GAP = r"[ ·•\-.\n]{0,4}+"
_DIGIT = "[0-9OIl]"
_PLATE = re.compile(
    r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼] ?[A-HJ-NP-Z]"
    rf"{_GAP}(?:[DF] ?[A-Zl0-9] ?(?:{_GAP}{_DIGIT}){{4}}"
    rf"|(?:{_GAP}{_DIGIT}){{5}}[DF]"
    rf"|(?=\D{{0,16}}\d)(?:{_GAP}[A-Z0-9l]){{4}}{_GAP}[A-Z0-9l挂学警港澳])"
    r"(?![0-9A-Za-z])"
)
"""GA 36: province, authority, five characters, or six with D or F for new energy."""


def detect(view: View) -> Iterator[Finding]:
    """Whole plates; a province and a letter alone (京A牌照) are no plate."""
    if view.ascii:
        return
    for match in view.matches(_PLATE, "PLATE"):
        yield Finding("PLATE", *match.span(), Level.HIGH)

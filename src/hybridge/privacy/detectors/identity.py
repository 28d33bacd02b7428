"""Numbers that the state gives to a person: 居民身份证, passport, US social security number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy import cues
from hybridge.privacy.checksums import chinese_id, date, province
from hybridge.privacy.detectors.numbers import Number
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_PASSPORT = re.compile(
    r"[0-9CDEGHMPScdeghmps](?<![0-9A-Za-z].)"
    r"(?:(?<=[EeGg])\d{8}|(?<=[Ee])[A-HJ-NP-Z]\d{7}|(?<=[DSPdsp])[Ee]?\d{7}"
    r"|(?<=[CHMchm])\d{8}(?:\d{2})?|(?<=\d)\d{8})"
    r"(?![0-9A-Za-z])"
)
"""Chinese ordinary, diplomatic and service passports, permits to Hong Kong, Macao, Taiwan; US."""
_PASSPORTS = ("护照", "通行证", "回乡证", "台胞证", "passport")
_BEFORE_NAME, _AFTER_NAME = 18, 38
"""Where a passport stands, counted from the word for it."""
USUAL = (
    r"(?<=\d)\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])\d{5}[0-9Xx]"
    r"|(?<=\d)\d{5}(?P<id>[ \-])(?:19|20)\d{6}(?P=id)\d{3}[0-9Xx]"
    r"|(?<=\d)\d{5}(?P<pairs>[ \-])(?:19|20)\d\d(?P=pairs)\d{4}(?P=pairs)\d{3}[0-9Xx]"
)
"""How identity numbers stand among other numbers."""
_SOCIAL_SECURITY = re.compile(
    r"[0-8]\d\d[- .](?<![0-9A-Za-z\-]....)(?<!000.)(?<!666.)(?!00)\d{2}[- .](?!0000)\d{4}"
    r"(?![0-9A-Za-z\-])"
)
_UNPUNCTUATED = re.compile(r"(?!000|666)\d{3}(?!00)\d{2}(?!0000)\d{4}$")


def claim_chinese_id(number: Number) -> Finding | None:
    """18 characters with a birthday in them, or 15 digits of before 1999 beside their name."""
    digits = number.digits
    if len(digits) == 18 and digits[:17].isdigit() and date(digits[6:14]):
        return _of_eighteen(number)
    if len(digits) == 15 and digits.isdigit() and province(digits) and date("19" + digits[6:12]):
        return number.found("CN_ID", Level.HIGH) if number.near(cues.IDENTITY) else None
    return None


def _of_eighteen(number: Number) -> Finding | None:
    if number.near(cues.IDENTITY, before=30):
        return number.found("CN_ID", Level.HIGH)
    if chinese_id(number.digits) and province(number.digits):
        return number.found("CN_ID", Level.MEDIUM if number.is_something_else else Level.HIGH)
    return None


def claim_social_security(number: Number) -> Finding | None:
    """Nine digits however they are spaced, beside their name."""
    named = number.near(cues.SOCIAL_SECURITY, before=40)
    if named and _UNPUNCTUATED.match(number.digits):
        return number.found("US_SSN", Level.HIGH)
    return None


def detect(view: View) -> Iterator[Finding]:
    """Passports beside their name, and nine digits spaced as 3-2-4."""
    for match in view.matches(_SOCIAL_SECURITY, "US_SSN"):
        sure = view.near(cues.SOCIAL_SECURITY, *match.span(), before=40)
        yield Finding("US_SSN", *match.span(), Level.HIGH if sure else Level.MEDIUM)
    if view.mentions(_PASSPORTS):
        yield from _passports(view)


def _passports(view: View) -> Iterator[Finding]:
    """Looks around each word for them, from where it stopped before."""
    end = 0
    while (name := cues.PASSPORT.search(view.lower, end)) is not None:
        low = max(end, name.start() - _BEFORE_NAME)
        end = max(name.end() + _AFTER_NAME, end)
        for match in _PASSPORT.finditer(view.text, low, end):
            view.tally.count("PASSPORT")
            if view.near(cues.PASSPORT, *match.span(), before=26):
                yield Finding("PASSPORT", *match.span(), Level.HIGH)

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
    r"(?<![0-9A-Za-z])"
    r"(?:[EeGg]\d{8}|[Ee][A-HJ-NP-Z]\d{7}|[DSPdsp][Ee]?\d{7}|[CHMchm]\d{8}(?:\d{2})?|\d{9})"
    r"(?![0-9A-Za-z])"
)
"""Chinese ordinary, diplomatic and service passports, permits to Hong Kong, Macao, Taiwan; US."""
_PASSPORTS = ("护照", "通行证", "回乡证", "台胞证", "passport")
_SOCIAL_SECURITY = re.compile(
    r"[0-8](?<![0-9A-Za-z\-].)\d\d(?<!000)(?<!666)[- .](?!00)\d{2}[- .](?!0000)\d{4}"
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
        elsewhere = number.near(cues.SOMETHING_ELSE, before=14, after=6)
        return number.found("CN_ID", Level.MEDIUM if elsewhere else Level.HIGH)
    return None


def claim_social_security(number: Number) -> Finding | None:
    """Nine digits however they are spaced, beside their name."""
    if _UNPUNCTUATED.match(number.digits) and number.near(cues.SOCIAL_SECURITY, before=40):
        return number.found("US_SSN", Level.HIGH)
    return None


def detect(view: View) -> Iterator[Finding]:
    """Passports beside their name, and nine digits spaced as 3-2-4."""
    if not view.digits:
        return
    for match in _SOCIAL_SECURITY.finditer(view.text):
        sure = view.near(cues.SOCIAL_SECURITY, *match.span(), before=40)
        yield Finding("US_SSN", *match.span(), Level.HIGH if sure else Level.MEDIUM)
    if view.mentions(_PASSPORTS):
        for match in _PASSPORT.finditer(view.text):
            if view.near(cues.PASSPORT, *match.span(), before=26):
                yield Finding("PASSPORT", *match.span(), Level.HIGH)

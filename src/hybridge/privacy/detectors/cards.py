"""Where money lies: bank cards and IBANs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy import cues
from hybridge.privacy.checksums import iban, luhn
from hybridge.privacy.detectors.numbers import Number
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_ISSUED = re.compile(
    r"(?:62\d{14,17}|4\d{12}|4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[0689]\d{12}"
    r"|35\d{14}|(?:1800|2131)\d{11}|6(?:011|5\d\d)\d{12}|(?:4|5|6|9)\d{15,18})$"
)
"""ISO/IEC 7812 issuer ranges: UnionPay, Visa, Mastercard, Amex, Diners, JCB, Discover, Maestro."""
_SHORT = re.compile(r"(?:5[0678]|6)\d{10,11}$")
"""Maestro may have as few as twelve; that is no evidence without a name."""
_EVEN = re.compile(r"(?:\d{4}([ \-.]?)(?:\d{4}\1)+\d{1,4}|\d+)$")
"""Grouped by four, or not at all."""
_FIRST = "(?<=[2-69])"
USUAL = (
    rf"{_FIRST}\d{{12,18}}"
    rf"|{_FIRST}\d{{3}}(?P<card>[\-.\n])\d{{4}}(?P=card)\d{{4}}(?P=card)\d{{4}}(?:(?P=card)\d{{1,3}})?"
    rf"|{_FIRST}\d{{3}}(?<!\d ....) \d{{4}} \d{{4}} \d{{4}}(?: \d{{1,3}})?(?! \d)"
    r"|(?<=3)[47]\d\d(?P<amex>[ \-])\d{6}(?P=amex)\d{5}"
)
"""How cards stand among other numbers; rows of four digits are no cards."""
_IBAN = re.compile(
    r"\d\d(?<=[A-Za-z]{2}..)(?<![0-9A-Za-z][A-Za-z]{2}..)(?: ?[A-Za-z0-9]{4}){2,7}"
    r"(?: ?[A-Za-z0-9]{1,4})?(?![0-9A-Za-z])"
)
"""From the check digits on: the two letters of the country stand before them."""


def claim_bank_card(number: Number) -> Finding | None:
    """12-19 digits of an issuer that pass Luhn; or 15 and more that stand beside their name."""
    digits = number.digits
    if not digits.isdigit() or number.international:
        return None
    if luhn(digits):
        if _ISSUED.match(digits):
            return number.found("BANK_CARD", _level(number))
        if _SHORT.match(digits) and number.near(cues.CARD, before=26):
            return number.found("BANK_CARD", Level.MEDIUM)
    named = len(digits) >= 15 and number.near(cues.CARD_FOR_SURE, before=14, after=0)
    if named and not number.is_something_else and _EVEN.match(number.raw):
        return number.found("BANK_CARD", Level.MEDIUM)
    return None


def _level(number: Number) -> Level:
    if number.near(cues.CARD, before=26):
        return Level.HIGH
    return Level.LOW if number.is_something_else else Level.MEDIUM


def detect(view: View) -> Iterator[Finding]:
    """IBANs, by length and check digits: there is no other evidence in them."""
    for match in view.matches(_IBAN, "IBAN"):
        start, end = match.start() - 2, match.end()
        if iban(view.text[start:end].replace(" ", "").upper()):
            yield Finding("IBAN", start, end, Level.HIGH)

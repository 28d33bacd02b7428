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
_EVEN = re.compile(r"(?:\d{4}([ \-.]?)(?:\d{4}\1)+\d{1,4}|\d+)$")
"""Grouped by four, or not at all."""
_IBAN = re.compile(
    r"[A-Z](?<![0-9A-Za-z].)[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![0-9A-Za-z])"
)


def claim_bank_card(number: Number) -> Finding | None:
    """13-19 digits of an issuer that pass Luhn; or 15 and more that stand beside their name."""
    digits = number.digits
    if not (13 <= len(digits) <= 19 and digits.isdigit()) or number.international:
        return None
    elsewhere = number.near(cues.SOMETHING_ELSE, before=14, after=6)
    if luhn(digits) and _ISSUED.match(digits):
        if number.near(cues.CARD, before=26):
            return number.found("BANK_CARD", Level.HIGH)
        return number.found("BANK_CARD", Level.LOW if elsewhere else Level.MEDIUM)
    named = len(digits) >= 15 and number.near(cues.CARD_FOR_SURE, before=14, after=0)
    if named and not elsewhere and _EVEN.match(number.raw):
        return number.found("BANK_CARD", Level.MEDIUM)
    return None


def detect(view: View) -> Iterator[Finding]:
    """IBANs, by length and check digits: there is no other evidence in them."""
    if not view.digits:
        return
    for match in _IBAN.finditer(view.text):
        if iban(match.group().replace(" ", "")):
            yield Finding("IBAN", *match.span(), Level.HIGH)

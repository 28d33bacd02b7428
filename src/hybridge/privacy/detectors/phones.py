"""Telephone numbers: Chinese, North American, international, and others by their name."""

from __future__ import annotations

import re

from hybridge.privacy import cues
from hybridge.privacy.detectors.numbers import Number
from hybridge.privacy.finding import Finding, Level

_MOBILE = re.compile(r"1[3-9]\d{9}$")
_NOT_MOBILE = re.compile(r"1[ \-.]\(?\d{3}\)?[ \-.]|1[38]\d\d[.]\d\d ")
"""A North American number with its country code; a sum of money."""
_LANDLINE = re.compile(r"(?:(?:\+|00)?86[ \-]?)?\(?0(?:10|2\d|[3-9]\d{2})\)?[ \-]?[2-9]\d{6,7}$")
_AMERICAN = re.compile(r"(?:\+?1[ \-.]?)?\(?[2-9]\d{2}\)?[ \-.]?[2-9]\d{2}[ \-.]?\d{4}$")
_TRUNK = re.compile(
    r"\(?0\d{1,4}[ \-.)]{1,3}\d{4}[ \-.]?\d{3,4}$"
    r"|\(?0\d{2,4}[ \-.)]{1,3}\d{3}[ \-.]\d{2,4}(?:[ \-.]\d{2})?$"
    r"|0[1-9]([ \-.])\d\d(?:\1\d\d){3}$"
)
"""National numbers with a trunk 0, spaced: British, German, Japanese, Korean, Swiss, French."""
_PUBLIC = re.compile(r"(?:\+?1[ \-.]?)?\(?(?:8(?:00|88|77|66|55|44|33)|400)\)?[ \-.]")
"""Toll-free: somebody's hotline, nobody's number."""
_DATE = re.compile(r"(?:19|20)\d\d[\-./ ]?(?:0?[1-9]|1[0-2])[\-./ ]?(?:0?[1-9]|[12]\d|3[01])(?!\d)")
_SHORT = re.compile(r"\(?\d{2,4}\)?[ \-]\d{3,4}(?:[ \-]?\d{3,4})?$|\d\d([ \-])\d\d\1\d\d\1\d\d$")
"""Within one town or a small country: seven or eight digits, nothing without a name beside them."""
USUAL = (
    r"(?<=1)[3-9]\d{9}|(?<=1)[3-9]\d(?P<mobile>[ \-.\n])\d{4}(?P=mobile)\d{4}"
    r"|(?<=0)(?:10|2\d|[3-9]\d{2})\)?[ \-]?[2-9]\d{6,7}"
    r"|(?<=\()0?\d{2,3}\) ?\d{3,4}[ \-]?\d{4}"
    r"|(?<=[2-9])\d\d(?P<american>[ \-.])[2-9]\d\d(?P=american)\d{4}"
    r"|(?<=0)\d{2,4}[ \-.)]\d{3,4}[ \-.]\d{3,4}"
)
"""How telephone numbers stand among other numbers."""
_ROW, _ROW_CHARS = "0123456789 ", 48
"""What stands in a row of numbers, and how much of it is looked at."""
_NUMBERS_BESIDE = re.compile("(?:1?334|344)*")
"""Lengths of groups, where those are telephone numbers too."""


def claim_mobile(number: Number) -> Finding | None:
    """Eleven digits from 13 to 19, with or without 86 in front, spaced in one way."""
    local = _without_country(number.digits)
    prefixed = local is not number.digits
    if not _MOBILE.match(local) or (number.international and not prefixed):
        return None
    if local != number.raw and (_NOT_MOBILE.match(number.raw) or not _one_spacing(number)):
        return None
    if prefixed or number.near(cues.PHONE):
        return number.found("PHONE", Level.HIGH)
    if _in_a_row(number):
        return None
    return number.found("PHONE", Level.LOW if number.is_something_else else Level.MEDIUM)


def claim_other(number: Number) -> Finding | None:
    """Any other telephone number."""
    if not number.named and not _speaks_for_itself(number):
        return None
    level = _level(number) if number.digits.isdigit() else None
    return None if level is None else number.found("PHONE", level)


def _speaks_for_itself(number: Number) -> bool:
    """Whether its form alone could make it one: most numbers are done with here."""
    if number.digits[0] == "0" or number.digits.startswith("86") or number.international:
        return True
    return len(number.digits) in (10, 11) and len(number.raw) > len(number.digits)


def _without_country(digits: str) -> str:
    if len(digits) == 13 and digits.startswith("861"):
        return digits[2:]
    return digits[4:] if len(digits) == 15 and digits.startswith("00861") else digits


def _one_spacing(number: Number) -> bool:
    separators = number.separators
    plain = bool(separators & {"-", " "})
    return len(separators - {"-", " "}) + plain <= 1


def _level(number: Number) -> Level | None:
    length = len(number.digits)
    trunk = number.digits[0] == "0" or number.digits.startswith("86")
    if trunk and _LANDLINE.match(number.raw):
        return Level.HIGH if number.near(cues.PHONE) else Level.MEDIUM
    if number.international and 8 <= length <= 15:
        return Level.HIGH
    if length < 9 and number.digits[0] != "0":
        return Level.MEDIUM if _SHORT.match(number.raw) and _named(number) else None
    return None if _PUBLIC.match(number.raw) else _by_shape_and_name(number)


def _by_shape_and_name(number: Number) -> Level | None:
    length = len(number.digits)
    spaced = length < len(number.raw)
    american = 10 <= length <= 11 and _AMERICAN.match(number.raw) is not None
    if _named(number):
        if american:
            return Level.HIGH
        return Level.MEDIUM if length <= 13 and not number.is_something_else else None
    shaped = american or (9 <= length <= 11 and _TRUNK.match(number.raw) is not None)
    if not (spaced and shaped) or _in_a_row(number):
        return None
    return None if number.is_something_else else Level.MEDIUM


def _named(number: Number) -> bool:
    return number.near(cues.PHONE, before=28) and not _DATE.match(number.raw)


def _in_a_row(number: Number) -> bool:
    """Whether it is part of a row of numbers that are no telephone numbers: `256 512 1024 2048`."""
    if " " not in number.raw or number.separators != {" "}:
        return False
    text, start, end = number.view.text, number.start, number.end
    before, after = text[max(0, start - _ROW_CHARS) : start], text[end : end + _ROW_CHARS]
    row = before[len(before.rstrip(_ROW)) :], after[: len(after) - len(after.lstrip(_ROW))]
    beside = [str(len(group)) for side in row for group in side.split()]
    return _NUMBERS_BESIDE.fullmatch("".join(beside)) is None

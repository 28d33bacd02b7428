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
_TRUNK = re.compile(r"\(?0\d{1,4}[ \-.)]+\d{4}[ \-.]?\d{3,4}$")
"""National numbers with a trunk 0, spaced: British, German, Japanese, Korean."""
_PUBLIC = re.compile(r"(?:\+?1[ \-.]?)?\(?(?:8(?:00|88|77|66|55|44|33)|400)\)?[ \-.]")
"""Toll-free: somebody's hotline, nobody's number."""
_BEFORE, _AFTER, _ROW_CHARS = re.compile(r"(?:[0-9]+ )+\Z"), re.compile("(?: [0-9]+)+"), 48
"""Numbers beside this one, in the same row."""
_NUMBERS_BESIDE = re.compile("(?:1?334)*")
"""Lengths of groups, where those are telephone numbers too."""


def claim_mobile(number: Number) -> Finding | None:
    """Eleven digits from 13 to 19, with or without 86 in front, spaced in one way."""
    local = _without_country(number.digits)
    prefixed = local is not number.digits
    if not _MOBILE.match(local) or (number.international and not prefixed):
        return None
    if _NOT_MOBILE.match(number.raw) or not _one_spacing(number.separators):
        return None
    if prefixed or number.near(cues.PHONE):
        return number.found("PHONE", Level.HIGH)
    elsewhere = number.near(cues.SOMETHING_ELSE, before=14, after=6)
    return number.found("PHONE", Level.LOW if elsewhere else Level.MEDIUM)


def claim_other(number: Number) -> Finding | None:
    """Any other telephone number."""
    level = _level(number) if number.digits.isdigit() else None
    return None if level is None else number.found("PHONE", level)


def _without_country(digits: str) -> str:
    if len(digits) == 13 and digits.startswith("861"):
        return digits[2:]
    return digits[4:] if len(digits) == 15 and digits.startswith("00861") else digits


def _one_spacing(separators: frozenset[str]) -> bool:
    plain = bool(separators & {"-", " "})
    return len(separators - {"-", " "}) + plain <= 1


def _level(number: Number) -> Level | None:
    length = len(number.digits)
    if _LANDLINE.match(number.raw):
        return Level.HIGH if number.near(cues.PHONE) else Level.MEDIUM
    if number.international and 8 <= length <= 15:
        return Level.HIGH
    return None if _PUBLIC.match(number.raw) else _by_shape_and_name(number)


def _by_shape_and_name(number: Number) -> Level | None:
    length = len(number.digits)
    named = number.near(cues.PHONE, before=28)
    elsewhere = number.near(cues.SOMETHING_ELSE, before=14, after=6)
    american = 10 <= length <= 11 and _AMERICAN.match(number.raw) is not None
    if american and named:
        return Level.HIGH
    spaced = american and bool(number.separators) and not _in_a_row(number)
    shaped = spaced or (9 <= length <= 11 and _TRUNK.match(number.raw))
    plausible = 7 <= length <= 13 and (number.digits[0] == "0" or length >= 9)
    return Level.MEDIUM if (shaped or (named and plausible)) and not elsewhere else None


def _in_a_row(number: Number) -> bool:
    """Whether it is part of a row of numbers that are no telephone numbers: `256 512 1024 2048`."""
    if number.separators != {" "}:
        return False
    text, start, end = number.view.text, number.start, number.end
    before = _BEFORE.search(text, max(0, start - _ROW_CHARS), start)
    after = _AFTER.match(text, end, end + _ROW_CHARS)
    beside = [group for match in (before, after) if match for group in match.group().split()]
    return _NUMBERS_BESIDE.fullmatch("".join(str(len(group)) for group in beside)) is None

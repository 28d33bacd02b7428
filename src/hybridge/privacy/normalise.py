"""Undoes the disguises that keep a text's length or shorten it, and remembers where things were.

Full-width and other scripts' digits, Cyrillic look-alikes, dashes and spaces of all kinds become
ASCII; zero-width characters vanish; runs of Chinese numerals and of digits with the letters O and l
among them become digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import numpy as np
from msgspec import Struct

_VANISHING = frozenset(
    (
        *range(0x200B, 0x2010),  # zero-width space and joiners, direction marks
        *range(0x202A, 0x202F),  # direction embeddings
        *range(0x2060, 0x2065),  # word joiner, invisible operators
        *range(0x2066, 0x206A),  # direction isolates
        *range(0xFE00, 0xFE10),  # variation selectors
        *range(0xE0100, 0xE01F0),
        *(0xFEFF, 0xAD, 0x34F, 0x61C, 0x180E),
    )
)
_SPACES = (0xA0, 0x3000, *range(0x2002, 0x200B), 0x202F, 0x205F)
_DASHES = (*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63)
_LOOK_ALIKES = dict(zip("аеорсухіјһԁɡ", "aeopcyxijhdg", strict=True))
_DIGIT_BLOCKS = (
    range(0xB2, 0x2500),
    range(0x2776, 0x2794),
    range(0xA620, 0xAB00),
    range(0x10A40, 0x10A49),
    range(0x11066, 0x11F5A),
    range(0x1D7CE, 0x1D800),
    range(0x1F100, 0x1F10B),
    range(0x1FBF0, 0x1FBFA),
)
"""Where Unicode keeps digits beyond ASCII: other scripts', superscript, circled, mathematical."""

_NUMERALS = {
    **dict(zip("零〇一二三四五六七八九", "00123456789", strict=True)),
    **dict(zip("壹贰叁肆伍陆柒捌玖", "123456789", strict=True)),
    **dict(zip("幺两洞拐勾", "12079", strict=True)),  # as read aloud over the telephone
}


def _one_to_one() -> dict[int, str]:
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    table |= dict.fromkeys(_SPACES, " ") | dict.fromkeys(_DASHES, "-")
    table |= {ord(look): like for look, like in _LOOK_ALIKES.items()} | {0xFE6B: "@"}
    for block in _DIGIT_BLOCKS:
        for code in block:
            digit = unicodedata.digit(chr(code), None)
            if digit is not None:
                table.setdefault(code, str(digit))
    return table


def _any_of(codes: Iterable[int]) -> re.Pattern[str]:
    """One of these, or anything beyond the BMP: a class of both is searched ten times slower."""
    letters = "".join(re.escape(chr(code)) for code in codes if code < 0x10000)
    return re.compile(f"[{letters}]|[\U00010000-\U0010ffff]")


_TABLE: dict[int, str | None] = {**_one_to_one(), **dict.fromkeys(_VANISHING)}
_HIDDEN_LETTERS = frozenset(map(chr, _VANISHING))
_VANISHES = np.zeros(0x110000, np.bool_)
_VANISHES[list(_VANISHING)] = True
_A_FEW = 16
_PUNCTUATION = frozenset("！＂（），－．／：；＜＝＞？［］｀｛｜｝～—")
_DISGUISED = _any_of(code for code in _TABLE if chr(code) not in _PUNCTUATION)
"""Full-width punctuation alone is ordinary Chinese and no reason to translate."""

_NUMERAL = f"[{''.join(_NUMERALS)}]"
_NUMERAL_RUN = re.compile(
    rf"{_NUMERAL}(?:[A-Z0-9 .\-]{{0,5}}{_NUMERAL}){{4,}}"
    rf"|{_NUMERAL}(?<=[A-Z].){_NUMERAL}{{2,3}}(?!{_NUMERAL})"  # the end of a licence plate
)
_FROM_NUMERALS = str.maketrans(_NUMERALS)
_DIGIT = re.compile("[0-9]")
_LETTER_AFTER, _LETTER_BEFORE = re.compile("[0-9]-{0,2}[OolI]"), re.compile("[OolI]-{0,2}[0-9]")
_SPELT = re.compile(r"(?<![A-Za-z0-9])[0-9OolI](?:-{0,2}[0-9OolI]){8,22}(?![A-WYZa-wyz0-9])")
_FROM_LETTERS = str.maketrans("OolI", "0011")
_MANY_DIGITS = re.compile(r"(?:[^0-9]*[0-9]){5}")


class Normalised(Struct, frozen=True):
    """Text without its disguises."""

    text: str
    offsets: tuple[int, ...] | None = None
    """Index in the original of each character, and one past the end; None: the indexes agree."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span in the original text that [start, end) here stands for."""
        if self.offsets is None:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


def normalise(text: str) -> Normalised:
    """The text as the detectors read it. Linear in its length."""
    if text.isascii():
        return Normalised(_digits(text))
    if _DISGUISED.search(text) is None:
        plain, offsets = text, None
    else:
        letters = set(_DISGUISED.findall(text))
        offsets = _offsets(text) if letters & _HIDDEN_LETTERS else None
        plain = _undisguised(text, letters)
    plain = _NUMERAL_RUN.sub(lambda run: run.group().translate(_FROM_NUMERALS), plain)
    return Normalised(_digits(plain), offsets)


def _offsets(text: str) -> tuple[int, ...]:
    """Where each character stood that does not vanish, and one past the end."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return (*np.flatnonzero(~_VANISHES[codes]).tolist(), len(text))


def _undisguised(text: str, letters: set[str]) -> str:
    """`letters` are those of the text that may stand for others. To replace a few one by one takes
    a tenth of the time that a table does."""
    if len(letters) > _A_FEW:
        return text.translate(_TABLE)
    for letter in letters | _PUNCTUATION:
        text = text.replace(letter, _TABLE.get(ord(letter), letter) or "")
    return text


def _digits(text: str) -> str:
    """`l38OOl38OOO` is how some write a number that they do not want to be found."""
    if _DIGIT.search(text) is None:
        return text
    mixed = _LETTER_AFTER.search(text) or _LETTER_BEFORE.search(text)
    return _SPELT.sub(_respelt, text) if mixed else text


def _respelt(run: re.Match[str]) -> str:
    mixed = run.group()
    return mixed.translate(_FROM_LETTERS) if _MANY_DIGITS.match(mixed) else mixed

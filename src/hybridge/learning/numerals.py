"""The numbers that an answer names, in digits or in words, English and Chinese."""

from __future__ import annotations

import re
import unicodedata

_DIGITS = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_SHORT = 40
"""Only in an answer this short, in characters, are words taken for its number: a longer one says
"one" and 一 for other reasons."""
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ENGLISH = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
_WORD = re.compile(r"[a-z]+")
_CHINESE_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十百千万亿]+")


def numbers(text: str) -> list[float]:
    """In their order. Words count only in a short text without digits."""
    plain = unicodedata.normalize("NFKC", text).replace("\N{MINUS SIGN}", "-").casefold()
    found = [float(number.replace(",", "")) for number in _DIGITS.findall(plain)]
    if found or len(plain) > _SHORT:
        return found
    return [*map(_chinese, _CHINESE.findall(plain)), *_english(plain)]


def _english(text: str) -> list[float]:
    """Below a hundred, and a hundred: "forty-two" is one number."""
    found: list[float] = []
    tens_before = False
    for word in _WORD.findall(text):
        value = _ENGLISH.get(word)
        if value is not None and tens_before and 0 < value < 10:
            found[-1] += value
        elif value is not None:
            found.append(float(value))
        tens_before = value is not None and value >= 20
    return found


def _chinese(numeral: str) -> float:
    """二〇二四 is read digit by digit, 三百二十一 by its units."""
    if all(sign in _CHINESE_DIGITS for sign in numeral):
        return float("".join(str(_CHINESE_DIGITS[sign]) for sign in numeral))
    total = group = digit = 0
    for sign in numeral:
        if sign in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[sign]
        elif sign in _CHINESE_UNITS:
            group += (digit or 1) * _CHINESE_UNITS[sign]
            digit = 0
        elif sign == "万":
            total += (group + digit or 1) * 10**4
            group = digit = 0
        else:  # 亿, which counts everything before it
            total = (total + group + digit or 1) * 10**8
            group = digit = 0
    return float(total + group + digit)

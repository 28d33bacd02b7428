"""Answers without what does not matter, so that the same answer looks the same (R21)."""

from __future__ import annotations

import re
import unicodedata

_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""Commas that group the digits of one number."""
_CJK = r"[\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af]"
_BESIDE_CJK = re.compile(rf"(?<={_CJK}) | (?={_CJK})")
_MARK = re.compile(r"[^\w\s]|_")
_INSIDE_NUMBERS = frozenset(".,-/:")
_KEPT = frozenset("%")
_MARKUP = frozenset("`*_#~|^")
"""Symbols that are layout rather than content."""


def normalise(text: str) -> str:
    """Without differences of width, case, punctuation, layout and white space.

    What changes the meaning stays: signs and points of numbers, percent, currency, operators.
    """
    folded = _GROUPED.sub("", unicodedata.normalize("NFKC", text).casefold())
    plain = _MARK.sub(lambda mark: _kept(mark, folded), folded)
    return _BESIDE_CJK.sub("", " ".join(plain.split()))


def _kept(mark: re.Match[str], text: str) -> str:
    """The mark itself where it means something, else a space."""
    sign, after = mark[0], text[mark.end() : mark.end() + 1]
    if sign in _MARKUP:
        return " "
    if sign in _INSIDE_NUMBERS:
        return sign if after.isdigit() else " "
    symbol = unicodedata.category(sign).startswith("S")
    return sign if symbol or sign in _KEPT else " "

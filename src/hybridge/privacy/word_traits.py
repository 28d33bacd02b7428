"""Splits text into words and names what can be seen of each: the input of the model for names.

Shared by the model's training and its use, so that both see the same.
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

from msgspec import Struct

ROWS = 1 << 16
"""Rows of the model's table; a trait is hashed to one of them."""
TRAITS = 7
"""Rows per word: the word, two beginnings, three ends, its shape and what stands before it."""
_LONGEST = 40
"""Characters of a word that are looked at. Nobody is called anything longer."""

_LETTER = r"[^\W\d_\u2e80-\U0003ffff]"
_WORD = re.compile(
    rf"{_LETTER}+(?:-{_LETTER}+|['’](?![sS]\b){_LETTER}+)*"  # Jean-Paul, O'Brien; an 's is apart
    r"|['’][sS]\b|\d+|[\u2e80-\u2fff\u3001-\U0003ffff]+|[^\s\w]|_"
)


class Words(Struct, frozen=True):
    """The words of a text, marks included."""

    spans: list[tuple[int, int]]
    """Where each begins and ends."""
    traits: list[tuple[int, ...]]
    """Per word `TRAITS` rows of the table."""


def words(text: str) -> Words:
    """In order. Linear in the text's length."""
    spans = [match.span() for match in _WORD.finditer(text)]
    traits, last = [], 0
    for start, end in spans:
        traits.append(_traits(text[start : min(end, start + _LONGEST)], _gap(text, last, start)))
        last = end
    return Words(spans, traits)


def _gap(text: str, last: int, start: int) -> str:
    """What stands between two words: nothing, a space, or the end of a line."""
    if start == last:
        return "" if start else "\n"
    between = text[last : min(start, last + 8)]
    return "\n" if "\n" in between or "\x1f" in between or not last else " "


@lru_cache(maxsize=32_768)
def _traits(word: str, gap: str) -> tuple[int, ...]:
    low = word.lower()
    seen = (
        f"w{low}",
        f"a{low[:2]}",
        f"b{low[:3]}",
        f"x{low[-2:]}",
        f"y{low[-3:]}",
        f"z{low[-4:]}",
        f"s{gap}{_shape(word)}",
    )
    return tuple([zlib.crc32(trait.encode("utf-8", "replace")) % ROWS for trait in seen])


def _shape(word: str) -> str:
    """`Xx` Anna, `X` a single capital, `XX` ANNA, `x` anna, `xX` iPhone, 漢 other letters."""
    if not word[0].isalpha():
        return f"0{min(len(word), 5)}" if word[0].isdigit() else word
    if word[0] > "\u2e80":
        return "漢"
    if word.isupper():
        return "X" if len(word) == 1 else "XX"
    if word.islower():
        return "x"
    rest = word[1:]
    plain = rest.islower() or not rest
    return "Xx" if word[0].isupper() and plain else "X-x" if word[0].isupper() else "xX"

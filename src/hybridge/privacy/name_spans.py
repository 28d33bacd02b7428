"""From a model's chances for each word to the names in a text. Pure; training measures with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

OUTSIDE, BEGINS, GOES_ON = 0, 1, 2
"""The labels of a word, in the order of the model's output."""

_CAPITAL = re.compile(r"[A-Z\u00c0-\u00de\u0100-\u024f\u1e00-\u1eff]")
"""What a name begins with, and some small letters of the same alphabets."""
_PART = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff.,'’]")
"""What a word of a name begins with: `Miller, J. Anna`."""
_BESIDE_A_SURE_ONE = 0.15
"""Chance that is enough for a word that goes on with a name: a rare last name after a common first
one. Of what is no name nearly every word has less than 0.05."""
_LONGEST = 60
"""Characters of a name."""
_SEVERAL_WORDS = re.compile(r"[^\W\d_]{2,}[ \-.].*[^\W\d_]{2}")
_BEFORE, _AFTER = frozenset("@_/\\"), frozenset("@_(")
"""What stands around a part of an address, a path or a piece of code, and not around a name."""


def name_spans(
    text: str,
    spans: Sequence[tuple[int, int]],
    chances: Sequence[Sequence[float]],
    sure: float,
) -> Iterator[tuple[int, int]]:
    """Names in order, each within one line. `spans`: of the text's words. `chances`: three to a
    word. `sure`: the chance to be part of a name that one word of each name must have."""
    name, surest = (0, 0), 0.0
    for (start, end), chance in zip(spans, chances, strict=True):
        inside = 1 - chance[OUTSIDE]
        if inside < _BESIDE_A_SURE_ONE or not _PART.match(text, start):
            continue
        if chance[GOES_ON] >= chance[BEGINS] and text[name[1] : start] in ("", " "):
            name, surest = (name[0], end), max(surest, inside)
            continue
        if surest >= sure:
            yield from _whole(text, *name)
        name, surest = (start, end), inside
    if surest >= sure:
        yield from _whole(text, *name)


def _whole(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The name without a comma at its end, if it is one."""
    end -= text[end - 1] == ","
    if end > start and _like_a_name(text, start, end):
        yield start, end


def may_name(text: str) -> bool:
    """Whether there could be a name in it; else the model need not be asked."""
    return _CAPITAL.search(text) is not None


def _like_a_name(text: str, start: int, end: int) -> bool:
    """What no model should have to learn: the form of a name, and what stands around one.

    All in capitals it must be of more than one word, for one word is mostly an abbreviation.
    """
    name = text[start:end]
    if end - start > _LONGEST or not _CAPITAL.match(name) or not name[0].isupper():
        return False
    if name.isupper() and not _SEVERAL_WORDS.match(name):
        return False
    return text[start - 1 : start] not in _BEFORE and text[end : end + 1] not in _AFTER

"""From a model's chances for each word to the names in a text. Pure; training measures with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

OUTSIDE, BEGINS, GOES_ON = 0, 1, 2
"""The labels of a word, in the order of the model's output."""

_CAPITAL = re.compile(r"[A-Z\u00c0-\u00de\u0100-\u024f\u1e00-\u1eff]")
"""What a name begins with, and some small letters of the same alphabets."""
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
    word. `sure`: the chance of a word to be part of a name from which it is taken for one."""
    name: tuple[int, int] | None = None
    for (start, end), chance in zip(spans, chances, strict=True):
        if chance[OUTSIDE] > 1 - sure:
            continue
        goes_on = chance[GOES_ON] >= chance[BEGINS]
        if name is not None and goes_on and text[name[1] : start] in ("", " "):
            name = (name[0], end)
            continue
        if name is not None and _like_a_name(text, *name):
            yield name
        name = (start, end)
    if name is not None and _like_a_name(text, *name):
        yield name


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

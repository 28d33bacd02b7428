"""From a model's chances for each word to the names in a text. Pure; training measures with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

OUTSIDE, BEGINS, GOES_ON = 0, 1, 2
"""The labels of a word, in the order of the model's output."""

_LONGEST = 60
"""Characters of a name."""
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LIKE_A_NAME = re.compile(r"[^\W\d_a-z].*[^\W\d_A-Z]|[^\W\d_a-z]{2,}[ \-.].*[^\W\d_a-z]{2}")
"""A capital and a small letter; or all in capitals and of more than one word."""
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


def _like_a_name(text: str, start: int, end: int) -> bool:
    """What no model should have to learn: the form of a name, and what stands around one."""
    name = text[start:end]
    if end - start > _LONGEST or not _LATIN.match(name) or not _LIKE_A_NAME.match(name):
        return False
    return text[start - 1 : start] not in _BEFORE and text[end : end + 1] not in _AFTER

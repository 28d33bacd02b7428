"""Turns of phrase, found fast: a regular expression runs only where a word of it occurs."""

from __future__ import annotations

import re
from collections.abc import Iterable

Row = tuple[str, str | None]
"""Words separated by `|`, and a pattern that is tried where one of them occurs.

Without a pattern the words themselves are the phrase; so it is with Chinese, which has no spaces
for a pattern to look at. Both are written in `text.plain` spelling.
"""

Span = tuple[int, int]


class Phrases:
    """Several rows that mean the same. Plain loops: every request runs a hundred rows."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = tuple(_compiled(*row) for row in rows)

    def find(self, text: str) -> Span | None:
        """Where the first of them occurs."""
        first: Span | None = None
        for words, pattern in self._rows:
            for word in words:
                if word in text:
                    span = _span(text, words, pattern)
                    if span is not None and (first is None or span < first):
                        first = span
                    break
        return first

    def occur(self, text: str) -> bool:
        """Whether one of them does."""
        for words, pattern in self._rows:
            for word in words:
                if word in text:
                    if pattern is None or pattern.search(text):
                        return True
                    break
        return False


def _compiled(words: str, pattern: str | None) -> tuple[tuple[str, ...], re.Pattern[str] | None]:
    """`re.ASCII` makes `\\b` a border of Latin words only: it holds beside Chinese, too."""
    compiled = re.compile(pattern, re.ASCII | re.MULTILINE) if pattern else None
    return tuple(words.split("|")), compiled


def _span(text: str, words: tuple[str, ...], pattern: re.Pattern[str] | None) -> Span | None:
    if pattern is None:
        return min((at, at + len(w)) for w in words if (at := text.find(w)) >= 0)
    match = pattern.search(text)
    return match.span() if match else None

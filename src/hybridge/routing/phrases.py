"""Turns of phrase, found fast: a regular expression runs only where a word of it occurs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hybridge.routing.spotting import Spotted

Row = tuple[str, str | None] | tuple[str, str, str]
"""Words separated by `|`, all in `text.plain` spelling, and what is tried where one of them occurs.
`a|b & c|d`: where one of `a` and `b` occurs, and one of `c` and `d`.

- `(words, None)`: the words themselves are the phrase; so it is with Chinese, which has no spaces
  for a pattern to look at.
- `(words, pattern)`: the pattern, anywhere in the text.
- `(words, lead, rest)`: the pattern `lead + rest`, of which `rest` always begins with one of the
  words (after `&`, if there is one). So it is tried at those words only, and `lead + rest` searched
  for only where `rest` is there. Searching a whole text for a pattern that begins with `\\b` looks
  at every character of it.
"""

Span = tuple[int, int]


class Phrases:
    """Several rows that mean the same."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = tuple(_compiled(row) for row in rows)
        self.words = frozenset[str]().union(*(row.words.union(*row.others) for row in self._rows))
        """What a `Spotter` has to look for."""

    def find(self, said: Spotted) -> Span | None:
        """Where the first of them occurs."""
        if self.words.isdisjoint(said.words):  # so it is with most tables and most texts
            return None
        return min(self._spans(said), default=None)

    def occur(self, said: Spotted) -> bool:
        """Whether one of them does."""
        if self.words.isdisjoint(said.words):
            return False
        return any(True for _ in self._spans(said))

    def _spans(self, said: Spotted) -> Iterator[Span]:
        for row in self._rows:
            if row.words.isdisjoint(said.words) or row.lacks_others(said):
                continue
            span = row.find(said)
            if span is not None:
                yield span


class _Gated:
    """The words of a row, without which it is not there."""

    def __init__(self, words: str) -> None:
        *others, last = (frozenset(gate.split("|")) for gate in words.split(" & "))
        self.words = last
        self.others = tuple(others)

    def lacks_others(self, said: Spotted) -> bool:
        return bool(self.others) and any(gate.isdisjoint(said.words) for gate in self.others)


class _Words(_Gated):
    """A row that is nothing but words."""

    def find(self, said: Spotted) -> Span | None:
        spans = ((said.text.find(word), len(word)) for word in self.words & said.words)
        return min(((at, at + length) for at, length in spans), default=None)


class _Pattern(_Gated):
    """A row whose pattern can begin anywhere."""

    def __init__(self, words: str, pattern: str) -> None:
        super().__init__(words)
        self._search = _regex(pattern).search

    def find(self, said: Spotted) -> Span | None:
        match = self._search(said.text)
        return match.span() if match else None


class _Anchored(_Gated):
    """A row whose pattern, or the rest of it, begins with one of the words."""

    def __init__(self, words: str, lead: str, rest: str) -> None:
        super().__init__(words)
        self._rest = _regex(rest)
        self._whole = _Pattern(words, lead + rest) if lead else None

    def find(self, said: Spotted) -> Span | None:
        spans = [self._first(said.text, word) for word in self.words & said.words]
        first = min((span for span in spans if span is not None), default=None)
        return first if first is None or self._whole is None else self._whole.find(said)

    def _first(self, text: str, word: str) -> Span | None:
        """The first place of the word at which the rest begins."""
        at = text.find(word)
        while at >= 0:
            match = self._rest.match(text, at)
            if match:
                return match.span()
            at = text.find(word, at + 1)
        return None


def _compiled(row: Row) -> _Words | _Pattern | _Anchored:
    match row:
        case (words, lead, rest):
            return _Anchored(words, lead, rest)
        case (words, str(pattern)):
            return _Pattern(words, pattern)
        case (words, _):
            return _Words(words)


def _regex(pattern: str) -> re.Pattern[str]:
    """`re.ASCII` makes `\\b` a border of Latin words only: it holds beside Chinese, too."""
    return re.compile(pattern, re.ASCII | re.MULTILINE)

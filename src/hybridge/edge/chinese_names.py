"""Finds Chinese person names through argus-redact, which weighs surnames, words and neighbours."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from hybridge.edge.readable_text import Piece, pieces, without_surrogates
from hybridge.privacy.detectors.surnames import DOUBLE
from hybridge.privacy.finding import Finding, Level

_CHINESE = re.compile(r"[\u4e00-\u9fff]{2}")
_BESIDE_NAMES = frozenset({"BANK_CARD", "CN_ID", "EMAIL", "PASSPORT", "PHONE"})
"""Data that people write their names beside: a word near one of them needs less to be a name."""
_TWO_CHARACTERS = re.compile(DOUBLE)
_LONGEST = 3
"""Characters of a name whose surname is one character. The library also joins longer words, none of
which was a name."""


class ChineseNames:
    """Bare names, each of them `Level.LOW`: a sign that counts beside others."""

    def __init__(self, match: Callable[..., Sequence[Any]], near: Callable[..., Any]) -> None:
        self._match = match
        self._near = near

    @classmethod
    def load(cls) -> Self:
        """Loads and warms up; blocking, some 100 ms. Raises `ImportError` without the extra."""
        from argus_redact._types import PatternMatch
        from argus_redact.lang.zh.person import detect_person_names

        names = cls(detect_person_names, PatternMatch)
        list(names("请联系张伟", ()))
        return names

    def __call__(self, text: str, found: Sequence[Finding]) -> Iterator[Finding]:
        """In order. Of what the always-on layer found, data of a person are taken as signs."""
        if not _CHINESE.search(text):
            return
        beside = [one for one in found if one.type in _BESIDE_NAMES and one.level >= Level.MEDIUM]
        for piece in pieces(without_surrogates(text)):
            for start, end in self._in_piece(piece, beside):
                if piece.first <= start < piece.last:
                    yield Finding("PERSON", piece.start + start, piece.start + end, Level.LOW)

    def _in_piece(self, piece: Piece, beside: Sequence[Finding]) -> Iterator[tuple[int, int]]:
        signs = [
            self._near(
                text=piece.text[one.start - piece.start : one.end - piece.start],
                type="phone",
                start=one.start - piece.start,
                end=one.end - piece.start,
            )
            for one in _between(beside, piece.start, piece.start + len(piece.text))
        ]
        for match in self._match(piece.text, pii_entities=signs):
            if match.end - match.start <= _LONGEST or _TWO_CHARACTERS.match(match.text):
                yield match.start, match.end


def _between(found: Sequence[Finding], low: int, high: int) -> Sequence[Finding]:
    """Those that lie wholly in there; they are in order and apart."""
    first = bisect_left(found, low, key=lambda one: one.start)
    last = bisect_right(found, high, key=lambda one: one.end)
    return found[first:last]

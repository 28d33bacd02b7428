"""Finds Chinese person names through argus-redact, which weighs surnames, words and neighbours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from hybridge.edge.readable_text import without_surrogates
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
        clean = without_surrogates(text)
        signs = [
            self._near(text=clean[one.start : one.end], type="phone", start=one.start, end=one.end)
            for one in found
            if one.type in _BESIDE_NAMES and one.level >= Level.MEDIUM
        ]
        for match in self._match(clean, pii_entities=signs):
            if match.end - match.start <= _LONGEST or _TWO_CHARACTERS.match(match.text):
                yield Finding("PERSON", match.start, match.end, Level.LOW)

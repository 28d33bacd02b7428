"""A piece of normalised text, together with what every detector asks of it first."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

BOUNDARY = "\x1f"
"""Stands between strings that do not belong together: no pattern and no context reaches over it."""

_DIGIT = re.compile("[0-9]")


class View(Struct, frozen=True):
    """Text to look at. Built once for all detectors; the flags let most of them leave at once."""

    text: str
    lower: str
    ascii: bool
    """No Chinese in it, nor anything else beyond ASCII."""
    digits: bool
    """Whether it holds a digit."""

    @classmethod
    def of(cls, text: str) -> View:
        return cls(text, text.lower(), text.isascii(), _DIGIT.search(text) is not None)

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether it holds one of these lower-case words. Much cheaper than a pattern."""
        lower = self.lower
        for word in words:  # noqa: SIM110 - half the time of any(), and asked for every text
            if word in lower:
                return True
        return False

    def near(
        self, cue: re.Pattern[str], start: int, end: int, before: int = 20, after: int = 8
    ) -> bool:
        """Whether `cue` stands at most so many characters around [start, end), in one string."""
        head = self.text[max(0, start - before) : start].rpartition(BOUNDARY)[2]
        tail = self.text[end : end + after].partition(BOUNDARY)[0]
        return cue.search(f"{head}{self.text[start:end]}{tail}") is not None

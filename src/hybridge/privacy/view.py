"""A piece of normalised text, together with what every detector asks of it first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

BOUNDARY = "\x1f"
"""Stands between strings that do not belong together: no pattern and no context reaches over it."""
MOST = 384
"""Candidates of one kind that are judged in one piece of text. See `Crowded`."""

_DIGIT = re.compile("[0-9]")
_TO_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class Crowded(Exception):
    """More candidates of one kind than are worth judging one by one: no one writes such a text.

    Whoever looks at the piece takes all of it for data of that kind, so that time stays linear and
    nothing hides behind a thousand numbers that look like others.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Tally:
    """Counts candidates of one kind. Raises `Crowded` when there are too many."""

    __slots__ = ("_kind", "_left")

    def __init__(self, kind: str, most: int = MOST) -> None:
        self._kind = kind
        self._left = most

    def count(self) -> None:
        """One more."""
        self._left -= 1
        if self._left < 0:
            raise Crowded(self._kind)


class View(Struct, frozen=True):
    """Text to look at. Built once for all detectors; the flags let most of them leave at once."""

    text: str
    lower: str
    """The same in lower case, of the same length."""
    ascii: bool
    """No Chinese in it, nor anything else beyond ASCII."""
    digits: bool
    """Whether it holds a digit."""

    @classmethod
    def of(cls, text: str) -> View:
        lower = text.lower()
        if len(lower) != len(text):  # İ becomes two
            lower = text.translate(_TO_LOWER)
        return cls(text, lower, text.isascii(), _DIGIT.search(text) is not None)

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether it holds one of these lower-case words. Much cheaper than a pattern."""
        lower = self.lower
        for word in words:  # noqa: SIM110 - half the time of any(), and asked for every text
            if word in lower:
                return True
        return False

    def matches(
        self, pattern: re.Pattern[str], kind: str, most: int = MOST
    ) -> Iterator[re.Match[str]]:
        """Candidates for `kind`, in order. Raises `Crowded` after `most` of them."""
        tally = Tally(kind, most)
        for match in pattern.finditer(self.text):
            tally.count()
            yield match

    def near(
        self, cue: re.Pattern[str], start: int, end: int, before: int = 20, after: int = 8
    ) -> bool:
        """Whether `cue`, in lower case, stands at most so far from [start, end), in one string."""
        lower = self.lower
        low = max(start - before, 0)
        low = max(low, lower.rfind(BOUNDARY, low, start) + 1)
        high = lower.find(BOUNDARY, end, end + after)
        return cue.search(lower, low, high if high >= 0 else end + after) is not None

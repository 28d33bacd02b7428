"""A piece of normalised text, together with what every detector asks of it first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

BOUNDARY = "\x1f"
"""Stands between strings that do not belong together: no pattern and no context reaches over it."""
MOST = 500
"""Candidates that are judged in one text of ordinary length. See `Crowded`."""

_DIGIT = re.compile("[0-9]")
_LONG_NUMBER = re.compile("[0-9](?:[^0-9OIa-z]{0,4}+[0-9OIl]){6}")
_OPAQUE = re.compile(r"[A-Z0-9][A-Za-z0-9+/_.\-]{7}")
_TO_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def holds(text: str, words: Iterable[str]) -> bool:
    """Whether one of these words is in it. Much cheaper than a pattern."""
    for word in words:  # noqa: SIM110 - half the time of any(), and asked for every text
        if word in text:
            return True
    return False


class Crowded(Exception):
    """More candidates than are worth judging one by one: no one writes such a text.

    Whoever looks at it takes all of it for data of that kind, so that time stays linear and nothing
    hides behind a thousand numbers that look like others.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Tally:
    """Counts the candidates of all kinds in one text."""

    __slots__ = ("_left", "_patience")

    def __init__(self, most: int = MOST) -> None:
        self._left, self._patience = most, most // 2

    def count(self, kind: str, effort: int = 1) -> None:
        """One more, as costly as so many. Raises `Crowded` when there are too many."""
        self._left -= effort
        if self._left < 0:
            raise Crowded(kind)

    def passed_over(self, effort: int) -> None:
        """One more number that turned out to be nothing: tables are full of them."""
        self._patience -= effort

    @property
    def crowded(self) -> bool:
        """Whether there were too many."""
        return self._left < 0

    @property
    def patient(self) -> bool:
        """Whether it is worthwhile to judge every number, also those of no usual form."""
        return self._patience > 0


class View(Struct, frozen=True):
    """Text to look at. Built once for all detectors; the flags let most of them leave at once."""

    text: str
    lower: str
    """The same in lower case, of the same length."""
    ascii: bool
    """No Chinese in it, nor anything else beyond ASCII."""
    digits: bool
    """Whether it holds a digit."""
    long_numbers: bool
    """Whether seven digits stand close together, with anything but small letters between them."""
    opaque: bool
    """Whether it holds something long that is hardly a word: a key, a token, encoded data."""
    tally: Tally

    @classmethod
    def of(cls, text: str, tally: Tally) -> View:
        lower = text.lower()
        if len(lower) != len(text):  # İ becomes two
            lower = text.translate(_TO_LOWER)
        digits = _DIGIT.search(text) is not None
        long_numbers = digits and _LONG_NUMBER.search(text) is not None
        opaque = _OPAQUE.search(text) is not None
        return cls(text, lower, text.isascii(), digits, long_numbers, opaque, tally)

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether it holds one of these lower-case words."""
        return holds(self.lower, words)

    def matches(
        self, pattern: re.Pattern[str], kind: str, *, lower: bool = False
    ) -> Iterator[re.Match[str]]:
        """Candidates for `kind`, in order, each counted. Raises `Crowded`."""
        for match in pattern.finditer(self.lower if lower else self.text):
            self.tally.count(kind)
            yield match

    def near(
        self, cue: re.Pattern[str], start: int, end: int, before: int = 20, after: int = 8
    ) -> bool:
        """Whether `cue`, in lower case, stands at most so far from [start, end), in one string."""
        lower = self.lower
        low = start - before if start > before else 0
        found = cue.search(lower, low, end + after)
        if found is None or BOUNDARY not in lower[low : end + after]:
            return found is not None
        low = max(low, lower.rfind(BOUNDARY, low, start) + 1)
        high = lower.find(BOUNDARY, end, end + after)
        return cue.search(lower, low, high if high >= 0 else end + after) is not None

"""Numbers with anything between their digits, and who claims them.

A candidate is a run of digits with separators. Families are asked in order; what nobody claims as a
whole is tried again in parts, since two numbers often stand side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_CANDIDATE = re.compile(
    r"(?<![0-9A-Za-z_/#])(?<!\d[.\-])"
    r"[+(]?\d(?:[ \-.()\n]{0,4}\d){6,26}[Xx]?"
    r"(?![0-9A-WYZa-wyz_]|\.\d)"
)
_DOTTED_QUAD = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_GROUP = re.compile(r"[+(]?\d+[Xx]?\)?")
_SEPARATORS = re.compile(r"[ \-.()\n]")
_MOST_GROUPS = 6
_FEWEST_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Number:
    """One candidate."""

    view: View
    raw: str
    """As it stands in the text."""
    start: int
    digits: str
    """Without separators and plus sign; may end in X."""
    separators: frozenset[str]
    """Which ones it holds."""

    @classmethod
    def of(cls, view: View, raw: str, start: int) -> Number:
        digits = _SEPARATORS.sub("", raw).lstrip("+")
        return cls(view, raw, start, digits, frozenset(_SEPARATORS.findall(raw)))

    @property
    def end(self) -> int:
        return self.start + len(self.raw)

    @property
    def international(self) -> bool:
        """Whether it begins with a plus sign."""
        return self.raw.startswith("+")

    def near(self, cue: re.Pattern[str], before: int = 20, after: int = 8) -> bool:
        """Whether a cue stands around it."""
        return self.view.near(cue, self.start, self.end, before, after)

    def found(self, kind: str, level: Level) -> Finding:
        """This number, as a finding."""
        return Finding(kind, self.start, self.end, level)


Claim = Callable[[Number], Finding | None]
"""A family's word on one candidate."""


def numbers(claims: Sequence[Claim]) -> Callable[[View], Iterator[Finding]]:
    """The detector that asks these families in this order."""

    def detect(view: View) -> Iterator[Finding]:
        if not view.digits:
            return
        for match in _CANDIDATE.finditer(view.text):
            if _DOTTED_QUAD.match(view.text, match.start()):
                continue
            whole = _first(claims, Number.of(view, match.group(), match.start()))
            if whole is not None:
                yield whole
            else:
                yield from _in_parts(claims, view, match.group(), match.start())

    return detect


def _first(claims: Sequence[Claim], number: Number) -> Finding | None:
    for claim in claims:
        finding = claim(number)
        if finding is not None:
            return finding
    return None


def _in_parts(claims: Sequence[Claim], view: View, raw: str, start: int) -> Iterator[Finding]:
    """Every run of neighbouring groups, the longest first, from the left."""
    groups = [group.span() for group in _GROUP.finditer(raw)]
    left = 0
    while len(groups) > 1 and left < len(groups):
        for right in range(min(len(groups), left + _MOST_GROUPS), left, -1):
            begin = groups[left][0]
            number = Number.of(view, raw[begin : groups[right - 1][1]], start + begin)
            if len(number.digits) < _FEWEST_DIGITS:
                break
            finding = None if number.raw == raw else _first(claims, number)
            if finding is not None:
                yield finding
                left = right - 1
                break
        left += 1

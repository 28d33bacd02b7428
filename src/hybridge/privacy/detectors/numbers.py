"""Numbers with anything between their digits, and who claims them.

A candidate is a run of digits with separators. Families are asked in order; what nobody claims as a
whole is read in parts, since two numbers often stand side by side: parts that are grouped as such
numbers usually are, and near a word such as `phone` any neighbouring groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from hybridge.privacy import cues
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_FEWEST, _FEWEST_AMONG_OTHERS, _MOST_DIGITS = 7, 9, 19
_END = r"(?![0-9A-WYZa-wyz_])"
_RUN = re.compile(
    r"[+(0-9](?<![0-9A-Za-z_/#].)(?=[ \-.()\n]{0,4}\d(?:[ \-.()\n]{0,4}\d){5})"
    rf"(?:(?<=[+(])\d++|(?<=\d)\d*+)[Xx]?+{_END}(?:[ \-.()\n]{{1,4}}+\d++[Xx]?+{_END})*+"
)
"""At least seven digits; a group that ends in letters (`2nd`) is no part of it."""
_DOTTED_QUAD = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
_PLAIN_LENGTH = 32
_GROUP = re.compile(r"[+(]?\d+[Xx]?\)?")
_SEPARATORS = re.compile(r"[ \-.()\n]")
_NO_SEPARATORS = str.maketrans("", "", " -.()\n+")
_NAMED_GROUPS, _NAMED_CHARS, _MOST_GROUPS, _NAMED_EFFORT = 3, 64, 6, 3
"""What is looked at behind a word that names a number."""
_LONGEST = 80
"""Characters of a number with everything between its digits."""
_FARTHEST, _FARTHEST_AFTER = 40, 8
"""Characters between a number and a word that names it."""


class Number(Struct, frozen=True, gc=False):
    """One candidate."""

    view: View
    raw: str
    """As it stands in the text."""
    start: int
    end: int
    digits: str
    """Without separators and plus sign; may end in X."""
    named: bool
    """Whether any word for numbers of persons stands near."""

    @classmethod
    def of(cls, view: View, raw: str, start: int) -> Number:
        digits = raw if raw.isdigit() else raw.translate(_NO_SEPARATORS)
        end = start + len(raw)
        head = min(end, start + _LONGEST)
        named = view.near(cues.NUMBER, start, head, _FARTHEST, _FARTHEST_AFTER)
        return cls(view, raw, start, end, digits, named)

    @property
    def separators(self) -> frozenset[str]:
        """Which ones it holds."""
        return frozenset() if self.raw.isdigit() else frozenset(_SEPARATORS.findall(self.raw))

    @property
    def international(self) -> bool:
        """Whether it begins with a plus sign."""
        return self.raw.startswith("+")

    def near(self, cue: re.Pattern[str], before: int = 20, after: int = 8) -> bool:
        """Whether a cue, one of those in `cues.NUMBER`, stands around it."""
        return self.named and self.view.near(cue, self.start, self.end, before, after)

    @property
    def is_something_else(self) -> bool:
        """Whether it is called an order, a version, a sum."""
        return self.view.near(cues.SOMETHING_ELSE, self.start, self.end, before=14, after=6)

    def found(self, kind: str, level: Level) -> Finding:
        """This number, as a finding."""
        return Finding(kind, self.start, self.end, level)


Claim = Callable[[Number], Finding | None]
"""A family's word on one candidate."""


class Family(Struct, frozen=True):
    """Who claims numbers of one kind."""

    claim: Claim
    lengths: range
    """Digits that such a number may have; with others it is not asked."""
    usual: str = ""
    """A pattern for how such numbers are grouped, where they stand among other numbers."""


class Numbers:
    """The detector that asks these families in this order."""

    def __init__(self, families: Iterable[Family]) -> None:
        asked = tuple(families)
        self._claims: Sequence[Sequence[Claim]] = [
            [family.claim for family in asked if length in family.lengths]
            for length in range(_MOST_DIGITS + 1)
        ]
        usual = "|".join(family.usual for family in asked if family.usual)
        self._usual = re.compile(rf"[(0-9](?=\d\d)(?<![0-9A-Za-z].)(?:{usual})(?![0-9A-Za-z])")

    def detect(self, view: View) -> Iterator[Finding]:
        """Each number that a family claims. Raises `Crowded`."""
        for run in _RUN.finditer(view.text):
            if not view.tally.patient:
                yield from self._grouped_as_usual(view, run.start(), len(view.text))
                return
            raw, start = run.group(), run.start()
            if len(raw) < _PLAIN_LENGTH and len(raw.translate(_NO_SEPARATORS)) < _FEWEST:
                continue  # the rest of its digits belong to a word
            if "." not in raw or not _DOTTED_QUAD.match(view.text, start):
                yield from self._in_run(view, Number.of(view, raw, start))

    def _in_run(self, view: View, number: Number) -> Iterator[Finding]:
        """The whole of it, or parts of it."""
        whole = self._claimed(number)
        if whole is not None:
            view.tally.count(whole.type)
            yield whole
        elif _FEWEST < len(number.digits) < len(number.raw):
            if number.named:
                yield from self._beside_its_name(number)
            if len(number.digits) > _FEWEST_AMONG_OTHERS:
                yield from self._grouped_as_usual(view, number.start, number.end)

    def _claimed(self, number: Number) -> Finding | None:
        length = len(number.digits)
        for claim in self._claims[length] if length <= _MOST_DIGITS else ():
            finding = claim(number)
            if finding is not None:
                return finding
        number.view.tally.passed_over(_NAMED_EFFORT if number.named else 1)
        return None

    def _grouped_as_usual(self, view: View, start: int, end: int) -> Iterator[Finding]:
        """Neighbouring groups that look like a number of some family, from the left."""
        for part in self._usual.finditer(view.text, start, end):
            finding = self._claimed(Number.of(view, part.group(), part.start()))
            view.tally.count(finding.type if finding else "PHONE")
            if finding is not None:
                yield finding

    def _beside_its_name(self, run: Number) -> Iterator[Finding]:
        """Any neighbouring groups near the beginning, the longest first."""
        groups = [group.span() for group in _GROUP.finditer(run.raw, 0, _NAMED_CHARS)]
        for left in range(min(len(groups), _NAMED_GROUPS)):
            for right in range(min(len(groups), left + _MOST_GROUPS), left, -1):
                begin = groups[left][0]
                raw = run.raw[begin : groups[right - 1][1]]
                number = Number.of(run.view, raw, run.start + begin)
                if len(number.digits) < _FEWEST or not run.view.tally.patient:
                    break
                finding = self._claimed(number)
                if finding is not None:
                    yield finding
                    return

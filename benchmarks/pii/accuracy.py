"""Counts what was found.

A labelled span is found when a finding of its type overlaps it; a finding is right when it overlaps
a span of its type. A text is flagged when something other than a lone name is found in it, since a
name alone never keeps a request on the device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.pii.corpus import STRUCTURED, Sample, Span

Found = Sequence[Span]
"""What a detector reports for one text."""
_ALIKE = {"DATE": "DOB"}
"""The generated texts hold no dates but birthdays."""


@dataclass(slots=True)
class Counts:
    """Of one type, or of several together."""

    labelled: int = 0
    found: int = 0
    reported: int = 0
    right: int = 0

    def add(self, other: Counts) -> None:
        """Count those of `other` too."""
        self.labelled += other.labelled
        self.found += other.found
        self.reported += other.reported
        self.right += other.right

    @property
    def recall(self) -> float:
        """Share of what is there that is found; 1 where there is nothing."""
        return self.found / self.labelled if self.labelled else 1.0

    @property
    def precision(self) -> float:
        """Share of what is reported that is right; 1 where nothing is reported."""
        return self.right / self.reported if self.reported else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision."""
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


@dataclass(slots=True)
class Score:
    """How well a detector did on one set."""

    types: dict[str, Counts] = field(default_factory=dict)

    @property
    def structured(self) -> Counts:
        """All structured types together."""
        total = Counts()
        for kind, counts in self.types.items():
            if kind in STRUCTURED:
                total.add(counts)
        return total

    def of(self, kind: str) -> Counts:
        """Those of one type."""
        return self.types.setdefault(_ALIKE.get(kind, kind), Counts())


def score(samples: Sequence[Sample], found: Sequence[Found]) -> Score:
    """Compare labels with findings, text by text."""
    result = Score()
    for sample, findings in zip(samples, found, strict=True):
        for span in sample.spans:
            counts = result.of(span.type)
            counts.labelled += 1
            counts.found += _met(span, findings)
        for finding in findings:
            counts = result.of(finding.type)
            counts.reported += 1
            counts.right += _met(finding, sample.spans)
    return result


def _met(span: Span, others: Iterable[Span]) -> bool:
    kind = _ALIKE.get(span.type, span.type)
    return any(
        _ALIKE.get(other.type, other.type) == kind
        and other.start < span.end
        and span.start < other.end
        for other in others
    )


def flagged(found: Iterable[Found]) -> int:
    """Texts in which something other than names is found."""
    return sum(any(finding.type != "PERSON" for finding in findings) for findings in found)


def disguises(samples: Sequence[Sample], found: Sequence[Found]) -> Mapping[str, tuple[int, int]]:
    """By disguise: how many values are found of how many, with words around them."""
    labelled: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for sample, findings in zip(samples, found, strict=True):
        if sample.context:
            labelled[sample.transform] += 1
            hits[sample.transform] += all(_met(span, findings) for span in sample.spans)
    return {disguise: (hits[disguise], count) for disguise, count in sorted(labelled.items())}

"""The first answers of a new version: whether it may stay."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from hybridge.core.clock import Clock

FEWEST = 3
"""Failures that it takes at least: one or two may be anybody's."""


class Verdict(Enum):
    """What became of a trial."""

    PASSED = "passed"
    FAILED = "failed"


class Terms(Struct, frozen=True):
    """What a new version is held to."""

    answers: int
    """So many answers without trouble, and it has passed."""
    window_s: float
    """As long it is watched at most; a canary without enough answers stays on trial."""
    failures_max: float
    """Share of failed answers over which it has failed."""
    probe_s: float = 5.0
    """How often its health is looked at."""


class Trial:
    """Counts answers of one version, from its first one on."""

    def __init__(self, terms: Terms, clock: Clock, *, needs_answers: bool) -> None:
        """`needs_answers`: time alone does not let it pass."""
        self._terms = terms
        self._clock = clock
        self._needs_answers = needs_answers
        self._begun_s = clock.monotonic()
        self._failed_probes = 0
        self.answers = 0
        self.failures = 0

    def answered(self, *, failed: bool) -> Verdict | None:
        """One more answer has come, or has not; the verdict, once there is one."""
        self.answers += 1
        self.failures += failed
        return self.verdict()

    def probed(self, *, failed: bool) -> Verdict | None:
        """The same for a health probe; those that fail in a row count."""
        self._failed_probes = self._failed_probes + 1 if failed else 0
        return self.verdict()

    def verdict(self) -> Verdict | None:
        """As of now."""
        if self._failed_probes >= FEWEST:
            return Verdict.FAILED
        share = self.failures / self.answers if self.answers else 0.0
        if self.failures >= FEWEST and share > self._terms.failures_max:
            return Verdict.FAILED
        if self.answers >= self._terms.answers:
            return Verdict.PASSED
        late = self._clock.monotonic() - self._begun_s >= self._terms.window_s
        return Verdict.PASSED if late and not self._needs_answers else None

    @property
    def account(self) -> str:
        """In words."""
        if self._failed_probes >= FEWEST:
            return f"{self._failed_probes} health probes in a row failed"
        return f"{self.failures} of its first {self.answers} answers failed"

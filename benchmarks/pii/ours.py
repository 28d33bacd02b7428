"""Hybridge's detectors: what is acted on, and so not what is found with little certainty."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.pii.corpus import Sample, Span
from benchmarks.pii.figures import Timed
from benchmarks.pii.speed import kilobytes, slowest, time_each
from hybridge.privacy.finding import Level
from hybridge.privacy.scan import detect

LANGUAGES = ("en", "zh")
SUSPICIOUS_MS = 30.0
"""Adversarial texts that take longer are timed again, since the machine is not ours alone."""


def look(texts: Sequence[str]) -> list[list[Span]]:
    """The findings in each text."""
    return [
        [Span(f.start, f.end, f.type) for f in detect(text) if f.level >= Level.MEDIUM]
        for text in texts
    ]


def timed(ordinary: Sequence[Sample], mixed: int) -> Timed:
    """Ordinary prompts by the kilobyte, and the slowest of the adversarial texts."""
    kilobyte = {
        language: time_each(detect, kilobytes(ordinary, language)) for language in LANGUAGES
    }
    return Timed(kilobyte, slowest(detect, mixed, SUSPICIOUS_MS))

"""All figures of one detector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.pii.accuracy import Found, Score, disguises, flagged, score
from benchmarks.pii.corpus import STRUCTURED, Sample
from benchmarks.pii.speed import Times

LABELLED = ("gen_zh", "gen_en", "presidio_synth_en")
Detect = Callable[[Sequence[str]], Sequence[Found]]
"""Looks at texts, one after the other."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a detector finds."""

    scores: Mapping[str, Score]
    """By labelled set."""
    disguised: Mapping[bool, float]
    """Recall of disguised values, with words around them and without."""
    disguises: Mapping[str, tuple[int, int]]
    ordinary: float
    """Ordinary prompts that are flagged, per 1,000."""
    tricky: float
    """Share of look-alikes that are flagged."""


@dataclass(frozen=True, slots=True)
class Timed:
    """How long it takes."""

    kilobyte: Mapping[str, Times]
    """By language."""
    slowest: Sequence[tuple[float, str]] = ()
    """The worst texts of 100 kB: milliseconds, and what they consist of."""


def figures(sets: Mapping[str, Sequence[Sample]], detect: Detect) -> Figures:
    """Ask the detector about every text."""
    found = {name: detect([sample.text for sample in samples]) for name, samples in sets.items()}
    return Figures(
        scores={name: score(sets[name], found[name]) for name in LABELLED},
        disguised={
            context: _disguised(sets["evasion"], found["evasion"], context)
            for context in (True, False)
        },
        disguises=disguises(sets["evasion"], found["evasion"]),
        ordinary=1000 * flagged(found["ordinary_prompts"]) / len(sets["ordinary_prompts"]),
        tricky=flagged(found["tricky_negatives"]) / len(sets["tricky_negatives"]),
    )


def _disguised(samples: Sequence[Sample], found: Sequence[Found], context: bool) -> float:
    chosen = [i for i, sample in enumerate(samples) if sample.context is context]
    return score([samples[i] for i in chosen], [found[i] for i in chosen]).structured.recall


def lines(found: Figures, timed: Timed) -> dict[str, str]:
    """Every figure in words, by what it is."""
    written = {}
    for name, of in found.scores.items():
        total = of.structured
        written[f"{name}: structured types, recall / precision"] = _pair(
            total.recall, total.precision
        )
        written[f"{name}: F1"] = f"{total.f1:.3f}"
        for kind in sorted(STRUCTURED | {"PERSON", "ADDRESS", "DOB"}):
            if (counts := of.types.get(kind)) is not None and counts.labelled:
                written[f"{name}: {kind} ({counts.labelled})"] = _pair(
                    counts.recall, counts.precision
                )
    written["disguised, with context: recall"] = f"{found.disguised[True]:.3f}"
    written["disguised, without: recall"] = f"{found.disguised[False]:.3f}"
    written["ordinary prompts flagged, per 1,000"] = f"{found.ordinary:.1f}"
    written["look-alikes flagged"] = f"{100 * found.tricky:.1f} %"
    for language, times in timed.kilobyte.items():
        both = f"{times.at(0.5):.3f} / {times.at(0.99):.3f}"
        written[f"1 kB, {language}: p50 / p99 ms"] = both
    if timed.slowest:
        written["worst 100 kB, ms"] = f"{timed.slowest[0][0]:.0f}"
    return written


def _pair(recall: float, precision: float) -> str:
    return f"{recall:.3f} / {precision:.3f}"

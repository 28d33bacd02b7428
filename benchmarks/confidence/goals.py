"""What the figures have to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

AUROC = 0.80
AUROC_AGREED = 0.85
"""With the answer, in the middle band, of that other model which is right most often."""
ECE = 0.05
JUDGED_MS = 0.5
"""At the median, an answer of 200 tokens."""
LEAST = 300
"""Answers of a group; of fewer nothing is promised."""


def missed(
    groups: Mapping[str, Mapping[str, Any]],
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    judged_ms: float,
) -> Iterator[str]:
    """The goals that are not reached, each in words."""
    for name, found in groups.items():
        if found["answers"] < LEAST:
            yield f"{name}: only {found['answers']} answers"
            continue
        if found["auroc"] < AUROC:
            yield f"{name}: AUROC {found['auroc']:.3f}, not {AUROC}"
        if found["ece"] > ECE:
            yield f"{name}: ECE {found['ece']:.3f}, over {ECE}"
        better = found["better"]
        agreed = found["seconds"][better]["auroc"] if better else 0.0
        if agreed < AUROC_AGREED:
            yield f"{name} with {better or 'nobody'}: AUROC {agreed:.3f}, not {AUROC_AGREED}"
    for name, lines in curves.items():
        pairs = zip(lines["judge"], lines["prompt's score"], strict=True)
        worse = [place * 10 for place, (ours, theirs) in enumerate(pairs) if ours < theirs - 1e-9]
        if worse:
            yield f"{name}: the cascade is below the prompt's score at {worse} % cloud"
    if judged_ms > JUDGED_MS:
        yield f"the judge takes {judged_ms:.2f} ms, not under {JUDGED_MS:g} ms"

"""What a second answer to the same request says of the first (R5, R21)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from hybridge.execution.wanted import Wanted
from hybridge.learning.agreement import Said, agree
from hybridge.learning.normalise import normalise

SAME = 0.85
"""Similarity from which two free texts say the same (SPEC R21)."""
Source = Literal["sample", "model"]
"""A second answer is another sample of the same model, or that of another small model."""
SENTENCE = 90
"""Characters that may stand around a short answer which is the same as a bare one."""
LEAST = 2
"""Characters of the bare one; a single letter stands in too many sentences."""
UNKNOWN = 0.5
"""Confidence of a second answer that nobody judged."""


def same(first: str, second: Said | str, wanted: Wanted) -> bool:
    """Whether both say the same, by learning's agreement; or one is the other in a sentence."""
    if agree(first, second, wanted.form, None, similarity_min=SAME).agreed:
        return True
    other = second.text if isinstance(second, Said) else second
    return wanted.form == "text" and _in_a_sentence(normalise(first), normalise(other))


def moved(
    confidence: float,
    second_confidence: float | None,
    weights: Mapping[str, Sequence[float]],
    *,
    agreed: bool,
) -> float:
    """The confidence with a second answer known: up where they agree, else down, and further the
    surer the second is. `weights` are two for `agreed` and two for `differed`, none negative."""
    told = UNKNOWN if second_confidence is None else second_confidence
    level, slope = weights["agreed" if agreed else "differed"]
    shift = level + slope * told
    right = confidence * math.exp(shift if agreed else -shift)
    return right / (right + (1.0 - confidence))


def log_odds(confidence: float) -> float:
    """Finite for 0 and 1 too."""
    kept = min(1 - 1e-6, max(1e-6, confidence))
    return math.log(kept / (1 - kept))


def _in_a_sentence(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if not len(short) >= LEAST or len(long) > len(short) + SENTENCE:
        return False
    return re.search(rf"(?<![a-z0-9.-]){re.escape(short)}(?![a-z0-9])", long) is not None

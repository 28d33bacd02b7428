"""How many tokens of a stream decide as the whole answer would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybridge.execution.head import Head
from hybridge.pipeline.confidence import BOUND, told
from hybridge.pipeline.judged_rows import BEGINNINGS, Row, row


def decided(every: Sequence[Row], head: Head) -> dict[int, dict[str, float | int]]:
    """Of the answers longer than so many tokens: how often their beginning decides alike, and how
    often it lets go what the whole answer would hold back."""
    found: dict[int, dict[str, float | int]] = {}
    for tokens in BEGINNINGS:
        longer = [one for one in every if one.tokens > tokens]
        if not longer:
            continue
        begun = [
            row(one.model, one.version, one.question, one.wanted, one.reply, tokens)
            for one in longer
        ]
        first, last = told(head, begun) >= BOUND, told(head, longer) >= BOUND
        found[tokens] = {
            "answers": len(longer),
            "alike": round(float(np.mean(first == last)), 3),
            "let_go_wrongly": round(float(np.mean(first & ~last)), 3),
        }
    return found

"""The cascade: answer on the edge, judge, escalate what is doubted. Quality at each cloud share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hybridge.execution.head import Head
from hybridge.execution.second import moved
from hybridge.pipeline.confidence import told
from hybridge.pipeline.judged_rows import Row, right
from hybridge.pipeline.logistic import Array
from hybridge.pipeline.second_answers import BAND, Pair

SHARES = tuple(round(0.1 * tenth, 1) for tenth in range(11))
MIDDLE = BAND
"""Confidence between which a second answer is asked for: where its weights are fitted."""


def quality(trust: Array, labels: Array, cloud: float, shares: Sequence[float] = SHARES) -> Array:
    """Share of right answers when the least trusted share goes to a cloud that is right so often.

    Among equals it is left to chance, so what is told is the expectation.
    """
    order = np.argsort(trust, kind="stable")
    ranked = trust[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    sizes = np.diff(np.r_[starts, len(ranked)])
    kept = np.repeat(np.add.reduceat(labels[order], starts) / sizes, sizes)
    sent = np.r_[0.0, np.cumsum(kept)] / len(kept)
    at = np.interp(np.array(shares) * len(kept), np.arange(len(kept) + 1), sent)
    found: Array = labels.mean() - at + cloud * np.array(shares)
    return found


def policies(
    every: Sequence[Row], head: Head, score: Mapping[str, float], pairs: Sequence[Pair]
) -> dict[str, Array]:
    """How much each way of routing trusts each answer; higher stays on the edge."""
    judge = told(head, every)
    found = {
        "prompt's length": np.array([-float(len(one.question.text)) for one in every]),
        "prompt's score": np.array([-score[one.question.key] for one in every]),
        "judge": judge,
    }
    if pairs:
        found["judge + second model"] = with_second(every, judge, head, pairs)
    return found


def with_second(
    every: Sequence[Row],
    judge: Array,
    head: Head,
    pairs: Sequence[Pair],
    band: tuple[float, float] = MIDDLE,
) -> Array:
    """The judge's confidence, moved by a second answer where it lies in the middle."""
    low, high = band
    by = {pair.first.question.key: pair for pair in pairs}
    after = judge.copy()
    for place, one in enumerate(every):
        pair = by.get(one.question.key)
        if pair is not None and low <= judge[place] <= high:
            weights = head.of_second(pair.source, pair.second.version)
            assert weights is not None  # pairs are of sources that were fitted
            after[place] = moved(
                float(judge[place]), pair.second_confidence, weights, agreed=pair.agreed
            )
    return after


def curves(
    trusts: Mapping[str, Array], every: Sequence[Row], cloud: float
) -> dict[str, list[float]]:
    """Quality at `SHARES`, by the way of routing."""
    labels = right(every)
    return {
        name: [round(float(q), 4) for q in quality(t, labels, cloud)] for name, t in trusts.items()
    }

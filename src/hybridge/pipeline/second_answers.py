"""Second answers to the questions of the outcome set: what they say of the first ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybridge.execution.confidence import FLAWED
from hybridge.execution.head import Head
from hybridge.execution.second import Source, log_odds, same
from hybridge.pipeline.judged_rows import Row, rows
from hybridge.pipeline.logistic import Array
from hybridge.pipeline.outcome_set import OutcomeSet

BAND = (0.1, 0.9)
"""Confidence of first answers for which a second one is asked for, and a little around it."""
STEPS = 30


@dataclass(frozen=True, slots=True)
class Pair:
    """A first answer, and what a second one said."""

    first: Row
    second: Row
    source: Source
    confidence: float
    """Of the first."""
    second_confidence: float
    agreed: bool


Told = Callable[[Row], float]
"""The confidence of an answer by itself."""


def by_head(head: Head) -> Told:
    """As the judge gives it."""

    def told(row: Row) -> float:
        if row.flaw is not None:
            return FLAWED
        return head.confidence(row.evidence, version=row.version, wanted=row.wanted)

    return told


def pairs(outcomes: OutcomeSet, firsts: Sequence[Row], told: Told) -> list[Pair]:
    """Of each first answer that has no visible flaw: with all other models', and with a second
    sample where there is one. Second answers with a flaw say nothing and are left out."""
    found: list[Pair] = []
    for name in outcomes.replies:
        others = {row.question.key: row for row in rows(outcomes, name)}
        model, _, sampled = name.partition("@")
        for one in firsts:
            is_own = one.model == model
            other = others.get(one.question.key)
            if other is None or other.flaw or one.flaw or is_own != bool(sampled):
                continue
            agreed = same(one.reply.answer, other.reply.answer, one.wanted)
            source: Source = "sample" if is_own else "model"
            found.append(Pair(one, other, source, told(one), told(other), agreed))
    return found


def fit(every: Sequence[Pair]) -> dict[str, Any]:
    """Weights for `execution.second.moved` by source, and by version of another model's weights.

    The pairs' confidences should come from a judge that has not seen the answers: one that has is
    too sure for a second answer to add anything."""
    known = [pair for pair in every if BAND[0] <= pair.confidence <= BAND[1]]
    found: dict[str, Any] = {
        source: _both([pair for pair in known if pair.source == source])
        for source in sorted({pair.source for pair in known})
    }
    others = [pair for pair in known if pair.source == "model"]
    for version in sorted({pair.second.version for pair in others}):
        found[version] = _both([pair for pair in others if pair.second.version == version])
    return found


def _both(some: Sequence[Pair]) -> dict[str, list[float]]:
    return {
        "agreed": _shift([pair for pair in some if pair.agreed], 1.0),
        "differed": _shift([pair for pair in some if not pair.agreed], -1.0),
    }


def _shift(some: Sequence[Pair], sign: float) -> list[float]:
    """Level and slope over the second's confidence, by Newton's method; none negative."""
    design = np.array([[sign, sign * pair.second_confidence] for pair in some]).reshape(-1, 2)
    offset = np.array([log_odds(pair.confidence) for pair in some])
    labels = np.array([pair.first.reply.right for pair in some], dtype=np.float64)
    both = _newton(design, labels, offset)
    if both.min() >= 0:
        return [round(float(w), 3) for w in both]
    alone = [np.maximum(0, _newton(design[:, [k]], labels, offset)) for k in (0, 1)]
    losses = [_loss(design[:, [k]], labels, offset, alone[k]) for k in (0, 1)]
    best = int(np.argmin(losses))
    return [round(float(alone[best][0]), 3) if k == best else 0.0 for k in (0, 1)]


def _newton(design: Array, labels: Array, offset: Array, ridge: float = 1.0) -> Array:
    w = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(offset + design @ w)))
        slope = design.T @ (p - labels) + ridge * w
        w = w - np.linalg.solve((design.T * (p * (1 - p))) @ design + ridge * np.eye(len(w)), slope)
    return w


def _loss(design: Array, labels: Array, offset: Array, w: Array) -> float:
    z = offset + design @ w
    return float(np.logaddexp(0, z).sum() - labels @ z)

"""Who speaks for a pair of models, prior or adapter, and what it says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from hybridge.routing.adaptation import Adaptation
from hybridge.routing.adapter import sigmoid
from hybridge.routing.head import Head, Vector, Wording
from hybridge.routing.reasons import LEAST
from hybridge.routing.view import log_odds, view


class Word(Struct, frozen=True):
    """What a score is made of."""

    p: float
    source: str
    version: str
    reasons: tuple[str, ...]


def adapted_word(
    prior: Word,
    known: Adaptation,
    head: Head,
    said: Wording,
    embedding: Vector | None,
    task: str,
) -> Word:
    """The prior's word, moved by what the operator's own comparisons tell of the pair (R2, R24)."""
    before = z = log_odds(prior.p)
    if known.speaks:
        z, error = known.told(view(head, said, embedding, prior.p))
        prior = replace(
            prior,
            source="adapter",
            version=f"{head.version}+{known.speaker}",
            reasons=(*prior.reasons, *_moved(known, z - before, error)),
        )
    offset = known.offset(task)
    p = float(sigmoid(np.array([z + offset]))[0]) if known.speaks or offset else prior.p
    return replace(prior, p=p, reasons=(*prior.reasons, *_history(known, task, offset)))


def _moved(known: Adaptation, by: float, error: float) -> Iterator[str]:
    trial = known.trial if known.adapter is not None or known.before is None else known.before.trial
    direction = "harder" if by > 0 else "easier"
    if abs(by) >= LEAST:
        yield (
            f"{direction}: by {trial.comparisons} comparisons of these models "
            f"({by:+.1f} log-odds, give or take {error:.1f})"
        )


def _history(known: Adaptation, task: str, offset: float) -> Iterator[str]:
    if abs(offset) >= LEAST:
        seen = known.tasks[task]
        direction = "harder" if offset > 0 else "easier"
        yield (
            f"{direction}: of {seen.seen:.0f} edge answers to {task} tasks "
            f"{100 * seen.accuracy:.0f} % were good enough"
        )

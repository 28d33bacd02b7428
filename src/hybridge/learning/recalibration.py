"""What the operator's own comparisons say of the confidence that was told (R22).

Each comparison knows what confidence the edge's answer was given and whether the cloud's agreed. Of
each backend and version a rising curve is fitted to them and drawn towards the shipped calibration
while they are few. It holds only when it would have told better what it had not seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from hybridge.learning import isotonic
from hybridge.learning.isotonic import Knots

LEAST = 50
"""Comparisons below which nothing is tried."""
DRAWN = 150.0
"""With so many comparisons the own curve counts as much as the shipped one."""
FOLDS = 5
SURE = 1.0
"""Standard errors by which it must be better on what it has not seen."""
PER_BIN = 25
_EDGE = 1e-3
"""Nothing is taken to be surer than this when a mistake is weighed."""


class Judged(Struct, frozen=True):
    """One comparison."""

    backend: str
    """On the edge."""
    version: str
    """Of its weights."""
    told: float
    """The confidence by the shipped calibration, before any curve of the operator's own; 0-1."""
    agreed: bool


def by_backend(records: Iterable[Judged]) -> Mapping[tuple[str, str], Knots]:
    """The curves that hold, by backend and version; those that would not help are not there."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for record in records:
        groups.setdefault((record.backend, record.version), []).append(record)
    curves = {key: curve(group) for key, group in groups.items()}
    return {key: knots for key, knots in curves.items() if knots is not None}


def curve(records: Sequence[Judged]) -> Knots | None:
    """From shipped to own confidence; None with few records or where it would not help."""
    if len(records) < LEAST:
        return None
    gains = [gain for fold in range(FOLDS) for gain in _gains(records, fold)]
    mean = sum(gains) / len(gains)
    spread = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / len(gains) / len(gains))
    return fitted(records) if mean > SURE * spread and mean > 0 else None


def fitted(records: Sequence[Judged]) -> Knots:
    """The curve, drawn towards the shipped calibration; rising, and within 0-1."""
    told = [record.told for record in records]
    own = isotonic.fit(
        told,
        [float(record.agreed) for record in records],
        bins=max(2, min(isotonic.BINS, len(records) // PER_BIN)),
    )
    share = len(records) / (len(records) + DRAWN)
    at = sorted({0.0, 1.0, *(min(1.0, max(0.0, place)) for place in own.at)})
    return Knots(tuple(at), tuple(share * own(place) + (1 - share) * place for place in at))


def _gains(records: Sequence[Judged], fold: int) -> Iterable[float]:
    """Nats that a fit on the others saves on each record of a fold."""
    knots = fitted([record for place, record in enumerate(records) if place % FOLDS != fold])
    for record in records[fold::FOLDS]:
        yield _loss(record.told, record.agreed) - _loss(knots(record.told), record.agreed)


def _loss(told: float, agreed: bool) -> float:
    kept = min(1 - _EDGE, max(_EDGE, told))
    return -math.log(kept if agreed else 1 - kept)

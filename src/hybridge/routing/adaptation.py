"""From comparisons of one pair of models to what speaks for it: the adapter, or the prior (R2).

The adapter speaks only where it has shown on comparisons that it had not seen that it is better.
Pure: evidence in, a value out, the same whatever order the evidence comes in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256

import numpy as np
from msgspec import Struct

from hybridge.learning.accuracy import TaskAccuracy, by_task
from hybridge.learning.evidence import Evidence, Pair, in_order, weights
from hybridge.routing.adapter import Adapter, Array, fit, sigmoid
from hybridge.routing.calibrating import Calibration, calibrated
from hybridge.routing.groups import Places, folds
from hybridge.routing.head import Vector
from hybridge.routing.view import PRIOR, SIZE, unpack

LEAST = 20
"""Comparisons below which nobody asks whether the adapter is better."""
MARGIN = 1.0
"""Standard errors by which it must be better: much with few comparisons, little with many."""
FOLDS = 5
MOST = 2000
"""Comparisons that an adapter learns from, the newest: its work grows with their cube."""


class Trial(Struct, frozen=True):
    """How prior and adapter did on comparisons that the adapter had not seen."""

    comparisons: int
    """That have a view."""
    prior_loss: float
    """Mean logarithmic loss, weighted."""
    adapter_loss: float
    gain: float
    """How much less the adapter's is."""
    error: float
    """Standard error of `gain`; near-duplicates count as one."""

    @property
    def tried(self) -> bool:
        """Whether there were enough comparisons to tell."""
        return self.comparisons >= LEAST

    @property
    def passed(self) -> bool:
        """Whether the adapter is better by more than chance."""
        return self.tried and self.gain > MARGIN * self.error


class Adaptation(Struct, frozen=True):
    """What is known of one pair, and what follows from it."""

    pair: Pair | None
    """None: learned from a file, and meant for any."""
    trial: Trial
    adapter: Adapter | None
    """None: the prior speaks, since the adapter is not better, or not yet."""
    calibration: Calibration
    """Of the adapter's word."""
    tasks: Mapping[str, TaskAccuracy]
    """Historical accuracy of the edge (R24)."""
    head: str
    """Version of the head whose views it understands."""
    version: str
    """`adapter-` and a digest of what it was made of."""
    before: Adaptation | None = None
    """What speaks for any pair, and is the prior of this one."""

    @property
    def speaks(self) -> bool:
        """Whether an adapter does; else the prior."""
        return self.adapter is not None or (self.before is not None and self.before.speaks)

    @property
    def speaker(self) -> str:
        """Version of the adapter that speaks; empty where the prior does."""
        if self.adapter is not None:
            return self.version
        return "" if self.before is None else self.before.speaker

    def told(self, seen: Vector) -> tuple[float, float]:
        """Log-odds and their standard deviation for one view, by whoever speaks."""
        based = seen if self.before is None else based_on(self.before, seen[None])[0]
        if self.adapter is None:
            return float(based[PRIOR]), 0.0
        z, error = self.adapter.shift(based)
        return self.calibration.slope * z + self.calibration.offset, error

    def offset(self, task: str) -> float:
        """Log-odds that the edge's history with such tasks adds."""
        known = self.tasks.get(task)
        return 0.0 if known is None else known.offset

    def said(self) -> str:
        """Where it stands, in words."""
        trial, n = self.trial, self.trial.comparisons
        losses = f"log loss {trial.adapter_loss:.3f} against {trial.prior_loss:.3f} of the prior"
        if self.adapter is not None:
            return f"in force, of {n} comparisons: {losses}"
        if n < LEAST:
            return f"waiting: {n} of {LEAST} comparisons"
        return f"waiting: not better yet after {n} comparisons: {losses}"


class Tried(Struct, frozen=True):
    """What cross-validation found."""

    trial: Trial
    calibration: Calibration
    prior: Array
    """Probabilities by the prior, `(n,)`."""
    adapted: Array
    """By adapters that had not seen them, calibrated likewise."""
    group: Places
    """Near-duplicates share a number."""

    @property
    def speaking(self) -> Array:
        """Of the two, the one that speaks from now on."""
        return self.adapted if self.trial.passed else self.prior


class Study(Struct, frozen=True):
    """What was made of evidence, and how it was found."""

    adaptation: Adaptation
    kept: Sequence[Evidence]
    """The evidence that has a view, in the order of the arrays."""
    tried: Tried
    counts: Array
    """How much each weighs."""


def adapt(
    pair: Pair | None,
    found: Sequence[Evidence],
    now: datetime,
    *,
    head: str,
    half_life: timedelta,
    before: Adaptation | None = None,
) -> Adaptation:
    """Fits an adapter to the evidence about a pair, and lets it speak if that is better.

    Evidence without a view of `head` counts for the accuracy of tasks alone. `before` speaks for
    any pair already, and is the prior here.
    """
    return study(pair, found, now, head=head, half_life=half_life, before=before).adaptation


def study(
    pair: Pair | None,
    found: Sequence[Evidence],
    now: datetime,
    *,
    head: str,
    half_life: timedelta,
    before: Adaptation | None = None,
    groups: Mapping[str, int] | None = None,
) -> Study:
    """The same with all that it rests on. `groups`: near-duplicates, by `request_id`."""
    ordered = in_order(found)
    counts = weights(ordered, now, half_life)
    seen, kept = _views(ordered, head)
    if before is not None:
        seen = based_on(before, seen)
    failed = np.array([one.failed for one in ordered], np.float64)
    gain = np.array([ordered[place].gain for place in kept], np.float64)
    own = None if groups is None else [groups[ordered[place].request_id] for place in kept]
    if len(kept) >= LEAST:
        tried = cross_fitted(seen, gain, failed[kept], counts[kept], own)
    else:
        tried = _untried(seen, failed[kept], counts[kept])
    expected = _expected(ordered, kept, tried.speaking)
    has_score = np.isfinite(expected)
    adapter = fit(seen, gain, weights=counts[kept]) if tried.trial.passed else None
    made = Adaptation(
        pair,
        tried.trial,
        adapter,
        tried.calibration,
        by_task(
            [one.task for one, known in zip(ordered, has_score, strict=True) if known],
            failed[has_score],
            expected[has_score],
            counts[has_score],
        ),
        head,
        _version(ordered),
        before,
    )
    return Study(made, [ordered[place] for place in kept], tried, counts[kept])


def _untried(seen: Vector, failed: Array, counts: Array) -> Tried:
    """So few that a trial would tell nothing."""
    p = sigmoid(seen[:, PRIOR].astype(np.float64))
    loss = _loss(p, failed)
    alone = np.arange(len(p))
    return Tried(_trial(loss, loss, counts, alone), Calibration(), p, p, alone)


def cross_fitted(
    seen: Vector,
    gain: Array,
    failed: Array,
    counts: Array,
    groups: Sequence[int] | None = None,
) -> Tried:
    """Every view is judged by an adapter that saw neither it nor a near-duplicate of it.

    It learns from `gain`, which knows more than who failed, and is calibrated on `failed`.
    `groups`, of near-duplicates: found in the views unless given.
    """
    z = seen[:, PRIOR].astype(np.float64)
    own = folds(seen, FOLDS, groups)
    held_out = np.copy(z)
    for fold in np.unique(own.fold):
        held = own.fold == fold
        told = fit(seen[~held], gain[~held], weights=counts[~held])
        held_out[held] = told.told(seen[held])
    adapted = np.copy(z)
    for fold in np.unique(own.fold):  # calibrated by the others, or its figures would flatter
        held = own.fold == fold
        adapted[held] = calibrated(held_out[~held], failed[~held], counts[~held])(held_out[held])
    prior, better = sigmoid(z), sigmoid(adapted)
    trial = _trial(_loss(prior, failed), _loss(better, failed), counts, own.group)
    return Tried(trial, calibrated(held_out, failed, counts), prior, better, own.group)


def based_on(before: Adaptation, seen: Vector) -> Vector:
    """Views in which `before` speaks in the prior's place, `(n, SIZE)`."""
    if before.adapter is None or not len(seen):
        return seen
    moved = seen.copy()
    moved[:, PRIOR] = before.calibration(before.adapter.told(seen))
    return moved


def _views(found: Sequence[Evidence], head: str) -> tuple[Vector, Places]:
    """The newest views of one head, `(k, SIZE)`, and the places they are of, `(k,)`."""
    views, places = [], []
    for place, one in enumerate(found):
        if one.view is not None and one.head == head:
            try:
                views.append(unpack(one.view))
            except ValueError:
                continue  # of another release, or broken: as if it were not there
            places.append(place)
    stacked = np.array(views[-MOST:], np.float32) if views else np.zeros((0, SIZE), np.float32)
    return stacked, np.array(places[-MOST:], np.int64)


def _expected(found: Sequence[Evidence], kept: Places, speaking: Array) -> Array:
    """What the score says of each comparison, as of now where there is a view; NaN: nothing."""
    expected = np.array([np.nan if one.p is None else one.p for one in found], np.float64)
    expected[kept] = speaking
    return np.clip(expected, 0.001, 0.999)


def _loss(p: Array, failed: Array) -> Array:
    sure = np.clip(p, 1e-6, 1 - 1e-6)
    told: Array = -(failed * np.log(sure) + (1 - failed) * np.log1p(-sure))
    return told


def _trial(prior: Array, adapted: Array, counts: Array, group: Places) -> Trial:
    n, total = len(prior), float(counts.sum())
    if n == 0 or total <= 0:
        return Trial(n, 0.0, 0.0, 0.0, 0.0)
    gain = float(counts @ (prior - adapted)) / total
    _, place = np.unique(group, return_inverse=True)
    by_group = np.bincount(place, counts * (prior - adapted - gain))
    return Trial(
        n,
        float(counts @ prior) / total,
        float(counts @ adapted) / total,
        gain,
        float(np.sqrt((by_group**2).sum())) / total,
    )


def _version(found: Sequence[Evidence]) -> str:
    digest = sha256()
    for one in found:
        digest.update(f"{one.at.isoformat()} {one.request_id} {one.gain} {one.task}".encode())
        digest.update(one.view or b"")
    return f"adapter-{digest.hexdigest()[:8]}"

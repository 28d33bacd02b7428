"""A rising curve through what was told and what came true: isotonic regression (R22)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from msgspec import Struct

LEAST, MOST = 0.01, 0.99
"""Nothing is told to be surer than this, either way."""
BINS = 16
"""Groups of equal size that the records are put into, before neighbours are pooled."""
PRIOR = 2.0
"""Records of the overall share that each group is given beside its own."""


class Knots(Struct, frozen=True):
    """A curve that never falls: straight between its knots, level beyond them."""

    at: tuple[float, ...]
    """Ascending."""
    told: tuple[float, ...]
    """0-1, never falling, as many as `at`."""

    def __call__(self, score: float) -> float:
        place = bisect_right(self.at, score)
        if place == 0:
            return self.told[0]
        if place == len(self.at):
            return self.told[-1]
        left, right = self.at[place - 1], self.at[place]
        share = (score - left) / (right - left)
        return self.told[place - 1] + share * (self.told[place] - self.told[place - 1])


class _Pool(Struct):
    score: float
    """Sum of the scores."""
    right: float
    size: float
    weight: float
    """The records, and the prior's."""

    @property
    def share(self) -> float:
        return self.right / self.weight


def fit(scores: Sequence[float], labels: Sequence[float], *, bins: int = BINS) -> Knots:
    """Pool-adjacent-violators (Ayer et al. 1955) over groups of equal size; at least one record.

    Records with one score stay in one group, so that their order does not matter. A knot stands at
    the mean score of each pool.
    """
    overall = sum(labels) / len(labels)
    pools: list[_Pool] = []
    for pool in _groups(sorted(zip(scores, labels, strict=True)), bins, overall):
        pools.append(pool)
        while len(pools) > 1 and pools[-2].share >= pools[-1].share:
            last = pools.pop()
            pools[-1] = _merged(pools[-1], last)
    told = tuple(round(min(MOST, max(LEAST, pool.share)), 4) for pool in pools)
    return _distinct([pool.score / pool.size for pool in pools], told)


def _groups(ranked: Sequence[tuple[float, float]], bins: int, overall: float) -> Iterable[_Pool]:
    size = max(1.0, len(ranked) / bins)
    start = 0
    while start < len(ranked):
        end = min(len(ranked), max(start + 1, round(start + size)))
        while end < len(ranked) and ranked[end][0] == ranked[end - 1][0]:
            end += 1
        group = ranked[start:end]
        right = sum(label for _, label in group) + PRIOR * overall
        yield _Pool(sum(score for score, _ in group), right, len(group), len(group) + PRIOR)
        start = end


def _merged(one: _Pool, other: _Pool) -> _Pool:
    return _Pool(
        one.score + other.score,
        one.right + other.right,
        one.size + other.size,
        one.weight + other.weight,
    )


def _distinct(at: Sequence[float], told: Sequence[float]) -> Knots:
    """Rounding can bring two means together; then the higher one's share holds."""
    knots = dict(zip((round(score, 4) for score in at), told, strict=True))
    return Knots(tuple(knots), tuple(knots.values()))

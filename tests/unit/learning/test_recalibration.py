"""R22: confidence learns from the operator's own comparisons, and only where that helps."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from hybridge.learning import isotonic
from hybridge.learning.recalibration import Judged, by_backend, curve, fitted

SHARES = st.floats(0, 1)
RECORDS = st.lists(
    st.builds(Judged, st.just("local"), st.just("v1"), SHARES, st.booleans()),
    min_size=1,
    max_size=120,
)


def compared(n: int, truth: float, seed: int = 1, version: str = "v1") -> list[Judged]:
    """Comparisons whose answers agree `truth` times as often as told."""
    rng = random.Random(seed)
    told = [rng.random() for _ in range(n)]
    return [Judged("local", version, p, rng.random() < truth * p) for p in told]


@given(RECORDS, SHARES, SHARES)
def test_a_curve_rises_and_stays_within_nought_and_one(
    records: list[Judged], one: float, other: float
) -> None:
    knots = fitted(records)
    low, high = sorted((one, other))
    assert 0 <= knots(low) <= knots(high) + 1e-12
    assert knots(high) <= 1


@given(RECORDS, SHARES)
def test_few_records_move_it_little(records: list[Judged], told: float) -> None:
    share = len(records) / (len(records) + 150)
    assert abs(fitted(records)(told) - told) <= share + 1e-9


def test_many_records_move_it_to_what_came_true() -> None:
    knots = curve(compared(4000, truth=0.5))
    assert knots is not None
    assert abs(knots(0.8) - 0.4) < 0.06


def test_it_does_not_hold_where_the_shipped_one_is_right() -> None:
    assert sum(curve(compared(400, truth=1.0, seed=seed)) is not None for seed in range(20)) <= 4


def test_it_does_not_hold_with_few_records() -> None:
    assert curve(compared(49, truth=0.1)) is None


def test_each_backend_and_version_has_its_own() -> None:
    records = [*compared(600, truth=0.3), *compared(600, truth=1.0, version="v2", seed=7)]
    curves = by_backend(records)
    assert ("local", "v1") in curves
    assert curves.get(("local", "v2")) is None or curves["local", "v2"](0.8) > 0.7


@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=1, max_size=200), st.randoms())
def test_the_order_of_records_does_not_matter(
    records: list[tuple[float, bool]], rng: random.Random
) -> None:
    def knots() -> isotonic.Knots:
        return isotonic.fit([s for s, _ in records], [float(right) for _, right in records])

    first = knots()
    rng.shuffle(records)
    assert knots() == first


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=200))
def test_its_knots_ascend_and_never_fall(records: list[tuple[int, bool]]) -> None:
    knots = isotonic.fit([s for s, _ in records], [float(right) for _, right in records])
    assert list(knots.at) == sorted(set(knots.at))
    assert list(knots.told) == sorted(knots.told)


def test_it_finds_a_curve_that_rises() -> None:
    rng = random.Random(2)
    scores = [rng.random() for _ in range(4000)]
    knots = isotonic.fit(scores, [float(rng.random() < s * s) for s in scores])
    assert max(abs(knots(s / 10) - (s / 10) ** 2) for s in range(1, 10)) < 0.08

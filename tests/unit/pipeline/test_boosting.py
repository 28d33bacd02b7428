"""The trees behind confidence: they find what made the data, and never fall where they must rise."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridge.pipeline import boosting
from hybridge.pipeline.measures import auroc


def made(seed: int = 1, n: int = 1500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right where the first feature is high, unless the second, a switch, is on."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=n), rng.integers(0, 2, n), rng.normal(size=n)])
    p = 1 / (1 + np.exp(-np.where(x[:, 1] > 0, -1.0, 2 * x[:, 0])))
    return x, (rng.random(n) < p).astype(float), p


def test_they_find_what_holds_only_together() -> None:
    x, y, p = made()
    bias, trees = boosting.fit(x, y, np.ones(len(y)), rising=1, trees=60)
    fresh, labels, truth = made(seed=2)
    z = boosting.log_odds(bias, trees, fresh)
    assert auroc(z, labels) > auroc(truth, labels) - 0.02
    assert np.abs(1 / (1 + np.exp(-z)) - truth).mean() < 0.08
    assert 0 < p.mean() < 1


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_a_rising_feature_never_lowers_the_sum(seed: int, rising: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 4))
    y = (rng.random(200) < 1 / (1 + np.exp(x @ rng.normal(size=4)))).astype(float)
    bias, trees = boosting.fit(x, y, np.ones(200), rising=rising, trees=12)
    better = x.copy()
    better[:, :rising] += rng.exponential(size=(200, rising))
    before, after = (boosting.log_odds(bias, trees, one) for one in (x, better))
    assert (after >= before - 1e-9).all()


def test_an_answer_that_weighs_nothing_changes_nothing() -> None:
    x, y, _ = made(n=400)
    weights = np.r_[np.ones(300), np.zeros(100)]
    other = y.copy()
    other[300:] = 1 - other[300:]
    assert boosting.fit(x, y, weights, rising=0, trees=5) == boosting.fit(
        x, other, weights, rising=0, trees=5
    )

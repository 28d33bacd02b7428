"""The figures that judge a score, against small cases counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.pipeline.measures import apgr, auroc, calibration_error, logistic, platt


def test_apgr_of_the_best_the_worst_and_no_ranking() -> None:
    gain = np.array([1.0, 0.0, 0.0, 0.0])
    assert apgr(np.array([4.0, 3, 2, 1]), gain) == pytest.approx(0.875)
    assert apgr(np.array([1.0, 2, 3, 4]), gain) == pytest.approx(0.125)
    assert apgr(np.zeros(4), gain) == pytest.approx(0.5)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_auroc_counts_pairs(rows: list[tuple[int, bool]]) -> None:
    score, label = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows], float)
    ones, zeros = score[label > 0.5], score[label <= 0.5]
    if not len(ones) or not len(zeros):
        assert np.isnan(auroc(score, label))
        return
    wins = (ones[:, None] > zeros).mean() + 0.5 * (ones[:, None] == zeros).mean()
    assert auroc(score, label) == pytest.approx(wins)


def test_platt_finds_the_logistic_that_made_the_data() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(0.1, 0.05, 20_000)
    fails = (rng.random(len(z)) < logistic(z, 20.0, -1.5)).astype(float)
    assert platt(z, fails, np.ones_like(z)) == pytest.approx((20.0, -1.5), rel=0.08)


def test_calibration_error_is_the_weighted_gap() -> None:
    p, fails = np.full(10, 0.75), np.r_[np.ones(5), np.zeros(5)]
    assert calibration_error(p, fails, np.ones(10)) == pytest.approx(0.25)
    assert calibration_error(p, fails, np.r_[np.full(5, 3.0), np.ones(5)]) == pytest.approx(0.0)

"""The little regression behind confidence, against data whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from hybridge.pipeline.logistic import auroc, ece, fit, out_of_fold, predict


def sample(n: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))
    p = 1 / (1 + np.exp(-(0.5 + 1.5 * x[:, 0] - 0.7 * x[:, 1])))
    return x, (rng.random(n) < p).astype(float), p


def test_it_finds_the_weights_that_made_the_data() -> None:
    x, y, _ = sample()
    assert fit(x, y) == pytest.approx([0.5, 1.5, -0.7], abs=0.15)


def test_its_probabilities_are_calibrated_and_a_shifted_one_is_not() -> None:
    x, y, _ = sample()
    told = predict(fit(x, y), x)
    assert ece(told, y) < 0.03
    assert ece(np.clip(told + 0.3, 0, 1), y) > 0.15


def test_a_row_is_told_by_a_fit_that_has_not_seen_its_fold() -> None:
    x, y, _ = sample(200)
    folds = np.arange(200) % 5
    told = out_of_fold(x, y, folds)
    held = folds == 3
    assert told[held] == pytest.approx(predict(fit(x[~held], y[~held]), x[held]))


@pytest.mark.parametrize(
    ("scores", "expected"), [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], 0.0), ([1, 1, 1, 1], 0.5)]
)
def test_auroc(scores: list[float], expected: float) -> None:
    assert auroc(np.array(scores, float), np.array([0.0, 0, 1, 1])) == expected
    assert np.isnan(auroc(np.array(scores, float), np.ones(4)))

"""The adapter's core: the prior before the first label, better with each (R2)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.routing.own_models import World

from hybridge.routing.adapter import COLUMNS, Adapter, Prior, fit, sigmoid
from hybridge.routing.view import PRIOR, SIZE

NONE = np.zeros((0, SIZE), np.float32), np.zeros(0)


def taught(world: World, n: int) -> Adapter:
    views, p = world.prompts(n)
    labels = (world.random.random(n) < p).astype(float)
    return fit(views, labels, weights=np.ones(n))


def loss(adapter: Adapter, world: World) -> float:
    views, p = world.prompts(400)
    told = sigmoid(adapter.told(views))
    return float(-(p * np.log(told) + (1 - p) * np.log1p(-told)).mean())


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_without_labels_it_is_the_prior(seed: int) -> None:
    views, _ = World(seed, prior_knows=0.7).prompts(5)
    for adapter in (Adapter.untaught(), fit(*NONE, weights=np.zeros(0))):
        assert adapter.told(views) == pytest.approx(views[:, PRIOR])
        z, error = adapter.shift(views[0])
        assert z == pytest.approx(views[0, PRIOR])
        assert error > 0


def test_more_labels_help_on_average() -> None:
    losses = {
        n: np.mean([loss(taught(World(seed), n), World(seed + 50)) for seed in range(4)])
        for n in (0, 30, 100, 300)
    }
    assert losses[0] > losses[30] > losses[100] > losses[300]


def test_more_labels_make_it_surer() -> None:
    views, _ = World(7).prompts(1)
    errors = [taught(World(1), n).shift(views[0])[1] for n in (0, 40, 400)]
    assert errors[0] > errors[1] > errors[2]


def test_consistent_labels_move_it_their_way() -> None:
    views, _ = World(3, prior_knows=0.5).prompts(40)
    for label in (0.0, 1.0):
        moved = fit(views, np.full(40, label), weights=np.ones(40)).told(views)
        assert (np.sign(moved - views[:, PRIOR]) == (1 if label else -1)).all()


def test_a_weight_of_two_is_two_labels() -> None:
    views, p = World(2).prompts(30)
    labels = (p > 0.5).astype(float)
    twice = fit(np.repeat(views, 2, axis=0), np.repeat(labels, 2), weights=np.ones(60))
    weighted = fit(views, labels, weights=np.full(30, 2.0))
    assert weighted.weights == pytest.approx(twice.weights, abs=1e-4)


def test_few_and_many_rows_are_solved_alike() -> None:
    """Both ways to invert agree where they meet."""
    views, p = World(4).prompts(COLUMNS // 2 + 1)
    labels = (p > 0.5).astype(float)
    most = fit(views, labels, weights=np.ones(len(views)))
    fewer = fit(views[:-1], labels[:-1], weights=np.ones(len(views) - 1))
    assert np.abs(most.weights - fewer.weights).max() < 0.1
    assert np.abs(most.covariance - fewer.covariance).max() < 0.1


def test_labels_between_are_shares() -> None:
    views, _ = World(5).prompts(200)
    told = sigmoid(
        fit(views, np.full(200, 0.3), Prior(level=1e-3), weights=np.ones(200)).told(views)
    )
    assert told.mean() == pytest.approx(0.3, abs=0.02)

"""The adapter's core: the prior before the first label, better with each (R2)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.routing.own_models import World

from hybridge.routing.adapter import SURE, Adapter, Prior, fit, sigmoid
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
    world = World(2)
    views, p = world.prompts(30)
    asked, _ = world.prompts(20)
    labels = (p > 0.5).astype(float)
    twice = fit(np.repeat(views, 2, axis=0), np.repeat(labels, 2), weights=np.ones(60))
    weighted = fit(views, labels, weights=np.full(30, 2.0))
    assert weighted.told(asked) == pytest.approx(twice.told(asked), abs=1e-3)
    errors = [[one.shift(view)[1] for view in asked] for one in (weighted, twice)]
    assert errors[0] == pytest.approx(errors[1], abs=0.01)


def test_a_label_speaks_for_what_is_like_it_and_less_for_the_rest() -> None:
    views, _ = World(6, prior_knows=0.5).prompts(60)
    one, rest = views[:1], views[1:]
    moved = fit(one, np.ones(1), weights=np.ones(1)).told(views) - views[:, PRIOR]
    prior = Prior(level=0)
    alike = prior.covariance(prior.read(rest), prior.read(one))[:, 0]
    assert moved[0] == moved.max() > 0
    assert np.corrcoef(alike, moved[1:])[0, 1] > 0.9


def test_with_many_labels_the_error_is_told_from_some_of_them() -> None:
    views, p = World(8).prompts(SURE + 200)
    adapter = fit(views, (p > 0.5).astype(float), weights=np.ones(len(views)))
    assert adapter.precision.shape == (SURE, SURE)
    assert len(set(adapter.sure.tolist())) == SURE
    assert 0 < adapter.shift(views[0])[1] < Adapter.untaught().shift(views[0])[1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_the_covariance_is_one_and_the_error_stays_below_it(seed: int, n: int) -> None:
    """Positive definite: whatever the views, no variance is negative, and labels only shrink it."""
    world = World(seed, prior_knows=0.5)
    views, p = world.prompts(n)
    prior = Prior()
    sides = prior.read(views)
    assert np.linalg.eigvalsh(prior.covariance(sides, sides)).min() > -1e-5
    adapter = fit(views, (p > 0.5).astype(float), weights=np.ones(n))
    asked, _ = world.prompts(5)
    for view in asked:
        before = Adapter.untaught().shift(view)[1]
        assert 0 < adapter.shift(view)[1] <= before + 1e-3


def test_labels_between_are_shares() -> None:
    views, _ = World(5).prompts(200)
    told = sigmoid(
        fit(views, np.full(200, 0.3), Prior(level=1e3), weights=np.ones(200)).told(views)
    )
    assert told.mean() == pytest.approx(0.3, abs=0.02)

"""Who speaks for a pair of models: the adapter once it has shown that it is better (R2, R24)."""

from __future__ import annotations

import random
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.routing.own_models import HEAD, MONTH, NOW, PAIR, World

from hybridge.routing.adaptation import LEAST, Adaptation, adapt, study
from hybridge.routing.adapter import sigmoid
from hybridge.routing.view import PRIOR


def adapted(found, now=NOW, **options) -> Adaptation:
    return adapt(PAIR, found, now, **({"head": HEAD, "half_life": MONTH} | options))


def test_with_nothing_the_prior_speaks():
    made = adapted([])
    assert not made.speaks
    assert made.said() == f"waiting: 0 of {LEAST} comparisons"
    (view,), _ = World(1, prior_knows=1).prompts(1)
    assert made.told(view)[0] == pytest.approx(view[PRIOR])
    assert made.offset("chat") == 0


def test_too_few_comparisons_wait():
    made = adapted(World().evidence(LEAST - 1))
    assert not made.speaks
    assert made.said() == f"waiting: {LEAST - 1} of {LEAST} comparisons"


def test_it_speaks_once_it_is_better():
    made = adapted(World().evidence(200))
    assert made.speaks
    assert made.trial.adapter_loss < made.trial.prior_loss
    assert made.said().startswith("in force, of 200 comparisons")
    views, p = World(5).prompts(300)
    told = np.array([made.told(view)[0] for view in views])
    assert np.corrcoef(sigmoid(told), p)[0, 1] > 0.6


def test_it_does_not_speak_where_the_prior_knows_it_all():
    """What is left over is chance, and chance is not learned."""
    spoke = [adapted(World(seed, prior_knows=1.0).evidence(100)).speaks for seed in range(5)]
    assert sum(spoke) <= 1


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
def test_the_order_of_evidence_changes_nothing(seed):
    found = World(seed).evidence(60)
    shuffled = random.Random(seed).sample(found, len(found))
    one, other = adapted(found), adapted(shuffled)
    assert (one.version, one.trial, one.tasks) == (other.version, other.trial, other.tasks)
    (view,), _ = World(seed).prompts(1)
    assert one.told(view) == other.told(view)


def test_scores_keep_their_meaning():
    """Of those that it has not seen, as many fail as it says, high and low."""
    made = study(PAIR, World(3).evidence(300), NOW, head=HEAD, half_life=MONTH)
    failed = np.array([one.failed for one in made.kept])
    p = made.tried.adapted
    for low, high in ((0.0, 0.35), (0.35, 0.65), (0.65, 1.0)):
        within = (p >= low) & (p < high)
        if within.sum() > 30:
            assert failed[within].mean() == pytest.approx(p[within].mean(), abs=0.12)


def test_evidence_of_another_head_teaches_no_adapter():
    made = adapted(World().evidence(200, head="prior-other"))
    assert (made.trial.comparisons, made.speaks) == (0, False)


def test_broken_views_are_passed_over():
    found = World().evidence(200)
    found[3] = replace(found[3], view=b"\x01 broken")
    assert adapted(found).trial.comparisons == 199


def test_repeated_prompts_do_not_vouch_for_themselves():
    """The same prompt asked 200 times is one prompt: what chance says of it does not generalise."""
    (one,) = World(1, prior_knows=1.0).evidence(1)
    found = [
        replace(one, failed=float(n % 2), request_id=f"r{n}", at=NOW - timedelta(minutes=n))
        for n in range(200)
    ]
    assert not adapted(found).speaks


def test_old_evidence_fades():
    found = World().evidence(200)
    old, new = adapted(found, NOW + 12 * MONTH), adapted(found)
    views, _ = World(9).prompts(50)
    moved = [
        np.abs([made.told(view)[0] - view[PRIOR] for view in views]).mean() for made in (old, new)
    ]
    assert moved[0] < 0.2 * moved[1]


def test_tasks_that_fail_more_than_their_scores_say_score_higher():
    found = [
        *World(1, prior_knows=1.0).evidence(60, task="math", failed=1.0, view=None),
        *World(2, prior_knows=1.0).evidence(60, task="summarize", failed=0.0, view=None),
    ]
    made = adapted(found)
    assert not made.speaks
    assert made.offset("math") > 0.5 > -0.5 > made.offset("summarize")
    assert made.offset("never seen") == 0
    assert made.tasks["math"].accuracy < 0.5 < made.tasks["summarize"].accuracy


def test_an_adapter_out_of_a_file_is_the_prior_of_what_is_learned_here():
    before = adapted(World(1).evidence(120))
    made = adapted(World(2).evidence(LEAST - 1), before=before)
    assert made.speaks
    assert made.speaker == before.version
    (view,), _ = World(3).prompts(1)
    assert made.told(view)[0] == pytest.approx(before.told(view)[0])
    later = adapted(World(4).evidence(100, failed=1.0), before=before)
    assert later.speaker == later.version
    assert later.told(view)[0] > before.told(view)[0]

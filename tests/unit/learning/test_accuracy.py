"""R24: the accuracy of the edge for each kind of task, shrunk while little is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.learning.accuracy import OFFSET_MOST, by_task

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["chat", "math", "code"]),
        st.sampled_from([0.0, 1.0]),
        st.floats(0.01, 0.99),
        st.floats(0.01, 1.0),
    ),
    min_size=1,
    max_size=60,
)


def of(rows):
    tasks, failed, expected, weights = zip(*rows, strict=True)
    return by_task(tasks, np.array(failed), np.array(expected), np.array(weights))


@given(ROWS)
def test_accuracies_are_shares_and_offsets_are_bounded(rows):
    for seen in of(rows).values():
        assert 0 <= seen.accuracy <= 1
        assert abs(seen.offset) <= OFFSET_MOST
        assert seen.seen > 0


@given(ROWS, st.randoms())
def test_the_order_changes_nothing(rows, random):
    shuffled = random.sample(rows, len(rows))
    one, other = of(rows), of(shuffled)
    for task, seen in one.items():
        assert (seen.accuracy, seen.offset) == pytest.approx(
            (other[task].accuracy, other[task].offset)
        )


def test_nothing_is_known_of_nothing():
    assert by_task((), np.zeros(0), np.zeros(0), np.zeros(0)) == {}


def test_one_answer_says_little_and_many_say_it_all():
    others = [("chat", float(n % 2), 0.5, 1.0) for n in range(100)]
    offsets = []
    for n in (1, 20, 400):
        found = of([*others, *[("math", 1.0, 0.5, 1.0)] * n])["math"]
        offsets.append(found.offset)
    assert 0 < offsets[0] < 0.15 < offsets[1] < offsets[2]


def test_failures_that_were_foreseen_move_no_score():
    found = of([("math", float(n < 80), 0.8, 1.0) for n in range(100)])
    assert found["math"].offset == pytest.approx(0, abs=0.01)
    assert found["math"].accuracy == pytest.approx(0.2)

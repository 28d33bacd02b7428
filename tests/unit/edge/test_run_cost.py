"""What a run is estimated to take, and which texts make one up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.edge.run_cost import Cost, together

COST = Cost(0.001, 0.0001)
TEXT = st.tuples(st.integers(1, 128), st.floats(0.0, 0.2))


def chosen(*texts: tuple[int, float], most: int = 32, longest_s: float = 0.02) -> list[int]:
    return together(texts, COST, 0.0, most=most, longest_s=longest_s)


def test_a_line_through_what_was_measured() -> None:
    cost = Cost.measured(lambda tokens: 0.002 + 0.0001 * tokens, 8, 128)
    assert cost.of(64) == pytest.approx(0.0084)
    assert cost.of(64, runs=3) == pytest.approx(0.0124)


def test_it_follows_a_machine_that_becomes_busy_and_idle_again() -> None:
    cost = Cost(0.001, 0.0001)
    for _ in range(100):
        cost.learn(100, 0.033)
    assert cost.of(100) == pytest.approx(0.033, rel=0.01)
    for _ in range(100):
        cost.learn(100, 0.011)
    assert cost.of(100) == pytest.approx(0.011, rel=0.01)


def test_one_run_that_hung_says_little() -> None:
    cost = Cost(0.001, 0.0001)
    cost.learn(100, 3600.0)
    assert cost.of(100) < 0.05


def test_a_lone_text_is_its_own_run() -> None:
    assert chosen((128, 9.0)) == [0]
    assert chosen((128, -1.0)) == [0]  # late, but there is nothing else to do


def test_texts_of_like_length_run_together() -> None:
    assert sorted(chosen((12, 0.05), (120, 0.06), (14, 0.07), (16, 0.08))) == [0, 2, 3]


def test_the_most_urgent_is_served_and_nobody_in_its_run_makes_it_late() -> None:
    texts = [(40, 0.1), (40, 0.0051), (40, 0.1)]
    assert chosen(*texts) == [1]


def test_what_will_be_late_anyway_lets_others_go_first() -> None:
    assert chosen((128, 0.001), (10, 0.1))[0] == 1


def test_no_more_than_so_many_and_no_longer_than_so() -> None:
    texts = [(10, 9.0)] * 50
    assert len(chosen(*texts, most=4)) == 4
    assert COST.of(10 * len(chosen(*texts, longest_s=0.01))) <= 0.01


@given(texts=st.lists(TEXT, min_size=1, max_size=40), most=st.integers(1, 32))
def test_a_run_is_cheaper_than_its_texts_alone_and_in_time_for_each(
    texts: list[tuple[int, float]], most: int
) -> None:
    places = chosen(*texts, most=most)
    assert 1 <= len(places) == len(set(places)) <= most
    longest = max(texts[place][0] for place in places)
    whole_s = COST.of(longest * len(places))
    assert whole_s <= sum(COST.of(texts[place][0]) for place in places) + 1e-9
    if len(places) > 1:
        assert whole_s <= 0.02
        assert all(whole_s <= texts[place][1] for place in places)
    if any(COST.of(tokens) <= needed_s for tokens, needed_s in texts):
        assert COST.of(texts[places[0]][0]) <= texts[places[0]][1]

"""A limit per minute holds for any 60 seconds, not for those of the clock on the wall (R44)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybridge.budget.window import WINDOW_S, Window

steps = st.lists(st.tuples(st.floats(0, 40), st.integers(1, 5)), max_size=60)


@given(steps, st.integers(1, 12))
def test_no_minute_holds_more_than_the_limit(steps: list[tuple[float, int]], limit: int) -> None:
    """Unless one alone is larger than all of it."""
    window, now, taken = Window(limit), 0.0, list[tuple[float, int]]()
    for pause_s, amount in steps:
        now += pause_s
        if window.wait_s(amount, now) == 0:
            window.take(amount, now)
            taken.append((now, amount))
        within = [(at, n) for at, n in taken if at + WINDOW_S > now]
        assert sum(n for _, n in within) <= limit or len(within) == 1


@given(steps, st.integers(1, 12))
def test_who_waits_as_long_as_told_is_let_in(steps: list[tuple[float, int]], limit: int) -> None:
    window, now = Window(limit), 0.0
    for pause_s, amount in steps:
        now += pause_s
        wait_s = window.wait_s(amount, now)
        assert 0 <= wait_s <= WINDOW_S + 1e-6
        now += wait_s + 1e-6 if wait_s else 0.0
        assert window.wait_s(amount, now) == 0
        window.take(amount, now)


def test_a_burst_at_the_turn_of_a_minute_does_not_pass_twice_the_limit() -> None:
    window = Window(3)
    for _ in range(3):
        window.take(1, 59.0)
    assert window.wait_s(1, 61.0) == 58.0
    assert window.left(61.0) == 0
    assert window.left(119.0) == 3


def test_what_is_larger_than_the_limit_passes_alone() -> None:
    window = Window(10)
    assert window.wait_s(50, 0.0) == 0
    window.take(50, 0.0)
    assert window.wait_s(1, 1.0) == 59.0
    assert window.wait_s(50, 60.0) == 0


def test_an_estimate_is_corrected_also_when_it_is_too_late() -> None:
    window = Window(10)
    taken = window.take(8, 0.0)
    window.correct(taken, 2)
    assert window.left(1.0) == 8
    window.take(8, 1.0)
    assert window.left(60.0) == 2, "the first one counts no more"
    window.correct(taken, 9)
    assert window.left(60.0) == 2


def test_when_all_of_it_is_free_again() -> None:
    window = Window(5)
    assert window.free_in_s(0.0) == 0
    window.take(1, 0.0)
    window.take(1, 30.0)
    assert window.free_in_s(40.0) == 50.0

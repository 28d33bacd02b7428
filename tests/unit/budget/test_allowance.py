"""What a key may ask for: checked and taken in one step, or not at all (R44)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.budget.allowance import Allowances, Limits, Rate, Slot
from hybridge.core.errors import RateLimited
from hybridge.testing.clock import ManualClock


def nothing() -> int:
    raise AssertionError("tokens are not limited, so that nobody needs to count them")


def allowances(
    clock: ManualClock | None = None, *, defaults: Limits | None = None, **own: Limits
) -> Allowances:
    return Allowances(own, clock or ManualClock(), defaults=defaults or Limits())


def enter(of: Allowances, key: str = "a", count: Callable[[], int] = nothing) -> Slot:
    slot = of.enter(key, count)
    assert slot is not None
    return slot


def test_a_key_without_limits_costs_nothing() -> None:
    assert allowances(b=Limits(rpm=1)).enter("a", nothing) is None
    assert allowances(a=Limits()).enter("a", nothing) is None


def test_a_place_is_free_again_when_it_is_given_back_and_only_then() -> None:
    of = allowances(a=Limits(max_parallel=1))
    with enter(of):
        with pytest.raises(RateLimited, match="max_parallel"):
            enter(of)
    slot = enter(of)
    slot.give_back()
    slot.give_back()
    assert of.under_way() == {"a": 0}


def test_a_request_that_was_refused_used_up_nothing() -> None:
    clock = ManualClock()
    of = allowances(clock, a=Limits(rpm=2, max_parallel=1))
    first = enter(of)
    for _ in range(50):
        with pytest.raises(RateLimited):
            enter(of)
    first.give_back()
    enter(of).give_back()
    with pytest.raises(RateLimited, match="2 times a minute") as refused:
        enter(of)
    assert refused.value.retry_after_s == 60.0
    clock.advance(60)
    assert of.under_way() == {"a": 0}
    enter(of)


def test_a_refusal_for_tokens_takes_no_request_either() -> None:
    of = allowances(a=Limits(rpm=2, tpm=100))
    enter(of, count=lambda: 90)
    with pytest.raises(RateLimited, match="tokens a minute"):
        enter(of, count=lambda: 90)
    assert enter(of, count=lambda: 10).rates()["requests"].remaining == 0


def test_tokens_are_estimated_first_and_counted_later() -> None:
    of = allowances(a=Limits(tpm=1000))
    enter(of, count=lambda: 900).give_back(100)
    assert enter(of, count=lambda: 900).rates() == {"tokens": Rate(1000, 0, 60.0)}


def test_a_count_that_fails_takes_nothing() -> None:
    of = allowances(a=Limits(tpm=10, max_parallel=1))

    def broken() -> int:
        raise RuntimeError("told to break")

    with pytest.raises(RuntimeError):
        enter(of, count=broken)
    assert of.under_way() == {"a": 0}


def test_defaults_hold_where_a_key_says_nothing_and_for_strangers() -> None:
    of = allowances(defaults=Limits(rpm=1, max_parallel=5), a=Limits(rpm=3))
    assert [enter(of).rates()["requests"].remaining for _ in range(3)] == [2, 1, 0]
    enter(of, "anonymous")
    with pytest.raises(RateLimited):
        enter(of, "anonymous")


def test_keys_do_not_share() -> None:
    of = allowances(a=Limits(rpm=1), b=Limits(rpm=1))
    enter(of, "a")
    enter(of, "b")


def test_limits_that_change_forget_nothing_that_was_taken() -> None:
    of = allowances(a=Limits(rpm=5, max_parallel=5))
    slots = [enter(of) for _ in range(3)]
    of.limit({"a": Limits(rpm=4, max_parallel=3)})
    with pytest.raises(RateLimited, match="max_parallel"):
        enter(of)
    for slot in slots:
        slot.give_back()
    enter(of)
    with pytest.raises(RateLimited, match="4 times"):
        enter(of)
    of.limit({})
    enter(of)
    of.limit({"b": Limits(rpm=1)})
    enter(of, "b")


def test_a_limit_on_tokens_that_is_new_is_not_touched_by_older_requests() -> None:
    of = allowances(a=Limits(tpm=10))
    before = enter(of, count=lambda: 9)
    of.limit({"a": Limits(rpm=9)})
    of.limit({"a": Limits(tpm=10)})
    before.give_back(1)
    assert enter(of, count=lambda: 5).rates()["tokens"].remaining == 5


def test_those_who_watch_are_told_which_limit_refused() -> None:
    told: list[tuple[str, str]] = []
    of = Allowances({"a": Limits(rpm=1)}, ManualClock(), refused=lambda *what: told.append(what))
    enter(of)
    with pytest.raises(RateLimited):
        enter(of)
    assert told == [("a", "rpm")]


@given(st.lists(st.sampled_from(["enter", "leave", "wait"]), max_size=80))
def test_nobody_is_ever_over_and_every_place_comes_back(steps: list[str]) -> None:
    clock = ManualClock()
    of = allowances(clock, a=Limits(max_parallel=3, rpm=7))
    held: list[Slot] = []
    for step in steps:
        if step == "wait":
            clock.advance(20)
        elif step == "leave" and held:
            held.pop().give_back()
        elif step == "enter":
            with suppress(RateLimited):
                held.append(enter(of))
        assert of.under_way()["a"] == len(held) <= 3

"""B36: state stays with its tenant, within its bounds, and no longer than it should."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hybridge.server.shapes.responses.store import ResponsesStore, Turn, asked_of, history
from hybridge.testing.clock import ManualClock


def turn(name, previous=None, size=0):
    asked = msgspec.json.encode([{"id": f"asked {name}", "text": "x" * size}])
    told = msgspec.json.encode({"output": [{"id": f"told {name}"}]})
    return Turn(name, asked, told, previous)


@pytest.fixture
def clock():
    return ManualClock()


def test_another_tenants_turn_is_not_found(clock):
    store = ResponsesStore(clock)
    store.keep("ann", turn("a"))
    assert store.find("bob", "a") is None
    assert store.remove("bob", "a") is False
    assert store.find("ann", "a").id == "a"


def test_a_chain_is_read_from_its_beginning(clock):
    last = turn("c", turn("b", turn("a")))
    assert [item["id"] for item in history(last)] == [
        f"{said} {name}" for name in "abc" for said in ("asked", "told")
    ]
    assert [item["id"] for item in asked_of(last)][-1] == "asked c"


def test_what_was_not_used_for_longest_gives_way(clock):
    store = ResponsesStore(clock, max_entries=2)
    store.keep("ann", turn("a"))
    store.keep("ann", turn("b"))
    store.find("ann", "a")
    store.keep("ann", turn("c"))
    assert [store.find("ann", name) is not None for name in "abc"] == [True, False, True]


def test_a_turn_is_kept_for_a_time_after_its_last_use(clock):
    store = ResponsesStore(clock, ttl_s=10)
    store.keep("ann", turn("a"))
    store.keep("ann", turn("b"))
    clock.advance(9)
    assert store.find("ann", "a") is not None
    clock.advance(9)
    assert store.find("ann", "b") is None
    assert store.find("ann", "a") is not None
    clock.advance(10)
    assert store.find("ann", "a") is None
    assert (len(store), store.size) == (0, 0)


def test_a_later_turn_keeps_what_it_was_told(clock):
    store = ResponsesStore(clock)
    first = turn("a")
    store.keep("ann", first)
    store.keep("ann", turn("b", first))
    assert store.remove("ann", "a")
    assert store.find("ann", "a") is None
    assert history(store.find("ann", "b"))[0]["id"] == "asked a"
    assert len(store) == 2
    store.remove("ann", "b")
    assert (len(store), store.size) == (0, 0)


def test_a_chain_larger_than_the_store_drives_nobody_out(clock):
    store = ResponsesStore(clock, max_bytes=10_000)
    store.keep("ann", turn("a"))
    assert store.keep("bob", turn("b", size=20_000)) is False
    assert store.find("ann", "a") is not None
    assert store.find("bob", "b") is None


def test_a_turn_that_was_forgotten_meanwhile_comes_back_with_its_follow_up(clock):
    store = ResponsesStore(clock, max_entries=3)
    first = turn("a")
    store.keep("ann", first)
    store.remove("ann", "a")
    store.keep("ann", turn("b", first))
    assert (len(store), store.size) == (2, sum(t.size for t in store.find("ann", "b").chain()))


def test_a_long_chain_is_let_go_of_in_one_piece(clock):
    store = ResponsesStore(clock, max_entries=10**6, max_bytes=10**12)
    last = None
    for number in range(100_000):
        last = Turn(str(number), b"[]", b"{}", last)
    store.keep("ann", last)
    del last
    store.remove("ann", "99999")
    assert (len(store), store.size) == (0, 0)


def test_a_turn_does_not_show_what_was_said():
    assert "secret" not in repr(Turn("a", b'["secret"]', b"secret", None))


class Keeping(RuleBasedStateMachine):
    """Two tenants at will: the bounds hold, and what is counted is what is there."""

    def __init__(self):
        super().__init__()
        self.clock = ManualClock()
        self.store = ResponsesStore(self.clock, max_entries=6, max_bytes=12_000, ttl_s=60)
        self.made = []

    @rule(
        tenant=st.sampled_from(["ann", "bob"]), after=st.integers(0, 5), size=st.integers(0, 4000)
    )
    def keep(self, tenant, after, size):
        mine = [one for owner, one in self.made if owner == tenant][-after:] if after else []
        previous = self.store.find(tenant, mine[0].id) if mine else None
        made = turn(f"r{len(self.made)}", previous, size)
        self.store.keep(tenant, made)
        self.made.append((tenant, made))

    @rule(which=st.integers(0, 20))
    def remove(self, which):
        if self.made:
            tenant, one = self.made[which % len(self.made)]
            self.store.remove(tenant, one.id)
            assert self.store.find(tenant, one.id) is None

    @rule(seconds=st.integers(1, 40))
    def wait(self, seconds):
        self.clock.advance(seconds)

    @invariant()
    def bounds_hold(self):
        assert len(self.store) <= 6
        assert self.store.size <= 12_000

    @invariant()
    def every_count_is_true(self):
        listed = [kept[0] for kept in self.store._found.values()]
        alive = {one.id: one for last in listed for one in last.chain()}
        assert len(self.store) == len(alive)
        assert self.store.size == sum(one.size for one in alive.values())


TestKeeping = Keeping.TestCase


def test_a_hundred_thousand_sessions_stay_within_bounds(clock):
    store = ResponsesStore(clock, max_entries=50)
    for number in range(100_000):
        store.keep("ann", Turn(str(number), b"[]", b"{}"))
    assert len(store) == 50
    assert store.size == 50 * turn_size()
    assert store.find("ann", "99999") is not None


def turn_size():
    return Turn("x", b"[]", b"{}").size

"""R43, and what went wrong elsewhere: storms at the end of the cool-down, stale successes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridge.core.errors import RATE_LIMITED, Again, BackendError, Fault
from hybridge.core.events import BreakerMoved, Events, GatewayEvent
from hybridge.core.request import Tier
from hybridge.execution.breaker import Breaker
from hybridge.execution.breaker_states import LONGEST_REST_S
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.permit import Permit
from hybridge.testing.clock import ManualClock

CONFIG = ExecutionConfig()
FAST, SLOW = 0.1, 0.8


class Bench:
    """A breaker, its clock, and what it said."""

    def __init__(self, tier: Tier = Tier.CLOUD, config: ExecutionConfig = CONFIG) -> None:
        self.clock = ManualClock()
        self.heard: list[GatewayEvent] = []
        self.breaker = Breaker("gpt", tier, config, self.clock, Events(self.heard.append))

    def fail(self, times: int = 1, fault: Fault = Fault.SERVER, after_s: float | None = None):
        for _ in range(times):
            self.breaker.admit().failed(fault, after_s)

    def succeed(self, times: int = 1, first_byte_s: float = FAST):
        for _ in range(times):
            self.breaker.admit().succeeded(first_byte_s)

    @property
    def moves(self) -> list[tuple[str, str]]:
        return [(e.old, e.new) for e in self.heard if isinstance(e, BreakerMoved)]


def is_refused(breaker: Breaker) -> bool:
    try:
        breaker.admit().abandon()
    except BackendError as error:
        return error.fault is Fault.REFUSED
    return False


def test_failures_in_a_row_open_it() -> None:
    bench = Bench()
    bench.fail(CONFIG.breaker_failures - 1)
    assert bench.breaker.state == "closed"
    bench.fail()
    assert bench.breaker.state == "open"
    assert bench.moves == [("closed", "open")]


def test_a_success_between_them_starts_the_count_anew() -> None:
    bench = Bench()
    for _ in range(3):
        bench.fail(CONFIG.breaker_failures - 1)
        bench.succeed()
    assert bench.breaker.state == "closed"


def test_the_failure_rate_counts_over_a_full_window() -> None:
    bench = Bench()
    for _ in range(CONFIG.breaker_window // 2):
        assert bench.breaker.state == "closed"
        bench.succeed()
        bench.fail()
    assert bench.breaker.state == "open"


def test_slow_calls_open_a_cloud_breaker_but_not_an_edge_one() -> None:
    cloud, edge = Bench(Tier.CLOUD), Bench(Tier.EDGE)
    for bench in (cloud, edge):
        bench.succeed(CONFIG.breaker_window, first_byte_s=SLOW)
    assert cloud.breaker.state == "open"
    assert edge.breaker.state == "closed"


@pytest.mark.parametrize("fault", [Fault.CALLER, Fault.CONTEXT, Fault.REFUSED])
def test_a_callers_error_never_counts(fault: Fault) -> None:
    bench = Bench()
    bench.fail(10 * CONFIG.breaker_window, fault)
    assert bench.breaker.state == "closed"


def test_a_refusal_says_how_long_and_changes_nothing() -> None:
    bench = Bench()
    bench.fail(3)
    bench.clock.advance(4)
    assert bench.breaker.refusal() == "breaker open for another 6 s"
    assert bench.breaker.retry_after_s == pytest.approx(6)
    with pytest.raises(BackendError, match="gpt: breaker open") as refused:
        bench.breaker.admit()
    assert refused.value.retry_after_s == pytest.approx(6)
    bench.clock.advance(6)
    assert bench.breaker.refusal() is None
    assert bench.breaker.state == "open", "looking is not asking"


def test_half_open_admits_exactly_one_of_fifty() -> None:
    bench = Bench()
    bench.fail(3)
    bench.clock.advance(CONFIG.breaker_open_s)
    permits = []
    for _ in range(50):
        try:
            permits.append(bench.breaker.admit())
        except BackendError:
            continue
    assert len(permits) == 1
    assert "probe" in (bench.breaker.refusal() or "")
    permits[0].succeeded(FAST)
    assert bench.moves == [("closed", "open"), ("open", "half_open"), ("half_open", "closed")]
    assert not is_refused(bench.breaker)


def test_a_failed_probe_opens_it_again() -> None:
    bench = Bench()
    bench.fail(3)
    bench.clock.advance(CONFIG.breaker_open_s)
    bench.fail()
    assert bench.breaker.retry_after_s == pytest.approx(CONFIG.breaker_open_s)


@pytest.mark.parametrize("by_fault", [False, True])
def test_a_probe_without_a_verdict_gives_its_place_back(by_fault: bool) -> None:
    bench = Bench()
    bench.fail(3)
    bench.clock.advance(CONFIG.breaker_open_s)
    probe = bench.breaker.admit()
    assert is_refused(bench.breaker)
    if by_fault:
        probe.failed(Fault.CALLER, None)
    else:
        probe.abandon()
    assert bench.breaker.state == "half_open"
    assert not is_refused(bench.breaker)


def test_a_late_success_from_before_the_opening_does_not_close_it() -> None:
    bench = Bench()
    slow = bench.breaker.admit()
    bench.fail(3)
    slow.succeeded(FAST)
    assert bench.breaker.state == "open"
    bench.clock.advance(CONFIG.breaker_open_s)
    probe = bench.breaker.admit()
    slow.succeeded(FAST)
    assert bench.breaker.state == "half_open"
    probe.failed(Fault.TIMEOUT, None)
    assert bench.breaker.state == "open"


def test_a_late_failure_does_not_open_what_has_closed_since() -> None:
    bench = Bench()
    late = [bench.breaker.admit() for _ in range(3)]
    bench.fail(3)
    bench.clock.advance(CONFIG.breaker_open_s)
    bench.succeed()
    for permit in late:
        permit.failed(Fault.TIMEOUT, None)
    assert bench.breaker.state == "closed"


def test_a_permit_speaks_once() -> None:
    bench = Bench()
    permit = bench.breaker.admit()
    for _ in range(5):
        permit.failed(Fault.SERVER, None)
    assert bench.breaker.state == "closed"


def test_it_waits_as_long_as_the_backend_asked() -> None:
    bench = Bench()
    bench.fail(1, Fault.BUSY, after_s=30)
    assert bench.breaker.retry_after_s == pytest.approx(30)
    bench.breaker.reached()
    bench.clock.advance(29.5)
    assert is_refused(bench.breaker)
    bench.clock.advance(0.5)
    bench.fail(1, Fault.BUSY, after_s=60)
    assert bench.breaker.retry_after_s == pytest.approx(60)


@pytest.mark.parametrize(
    "fault", [f for f in Fault if f.again is Again.LATER and f.counts_for_breaker]
)
def test_whoever_asks_to_wait_is_left_alone_whatever_ails_it(fault: Fault) -> None:
    bench = Bench()
    bench.fail(1, fault, after_s=30)
    assert bench.breaker.retry_after_s == pytest.approx(30)
    assert bench.breaker.limited is (fault is Fault.LIMITED)


def test_a_longer_wait_that_an_older_call_was_told_holds_too() -> None:
    """B20: several calls are under way, and each is told its own time."""
    bench = Bench()
    slow = bench.breaker.admit()
    bench.fail(1, Fault.LIMITED, after_s=5)
    slow.failed(Fault.LIMITED, 60)
    assert bench.breaker.retry_after_s == pytest.approx(60)
    assert bench.moves == [("closed", "open")]


def test_a_shorter_one_does_not() -> None:
    bench = Bench()
    slow = bench.breaker.admit()
    bench.fail(1, Fault.LIMITED, after_s=60)
    slow.failed(Fault.LIMITED, 5)
    assert bench.breaker.retry_after_s == pytest.approx(60)


def test_a_rate_limit_is_told_as_one_while_it_lasts() -> None:
    bench = Bench()
    bench.fail(1, Fault.LIMITED, after_s=30)
    with pytest.raises(BackendError) as refused:
        bench.breaker.admit()
    assert refused.value.body == {"code": RATE_LIMITED}
    assert refused.value.retry_after_s == pytest.approx(30)
    bench.clock.advance(30)
    bench.fail(1)
    with pytest.raises(BackendError) as refused:
        bench.breaker.admit()
    assert refused.value.body is None


def test_after_a_rate_limit_one_call_goes_first() -> None:
    """B26: what has waited does not all come at once."""
    bench = Bench()
    bench.fail(1, Fault.LIMITED, after_s=30)
    bench.clock.advance(30)
    bench.breaker.admit()
    assert is_refused(bench.breaker)


def test_an_absurd_retry_after_is_not_believed() -> None:
    bench = Bench()
    bench.fail(1, Fault.BUSY, after_s=10 * 365 * 86400)
    assert bench.breaker.retry_after_s == pytest.approx(LONGEST_REST_S)


def test_a_full_edge_queue_rests_without_a_probe() -> None:
    bench = Bench(Tier.EDGE)
    bench.fail(1, Fault.BUSY, after_s=1)
    assert is_refused(bench.breaker)
    bench.clock.advance(1)
    permits = [bench.breaker.admit() for _ in range(3)]
    assert len(permits) == 3
    assert bench.breaker.state == "closed"


def test_a_slow_but_working_cloud_is_refused_once_only() -> None:
    bench = Bench()
    bench.succeed(CONFIG.breaker_window, SLOW)
    bench.clock.advance(CONFIG.breaker_open_s)
    bench.succeed(1, SLOW)
    assert bench.breaker.state == "closed", "the probe is judged by its success alone"
    bench.succeed(10 * CONFIG.breaker_window, SLOW)
    assert bench.breaker.state == "closed", "it is slow by nature"
    bench.succeed(int(CONFIG.breaker_window * CONFIG.breaker_slow_rate), 3 * SLOW)
    assert bench.breaker.state == "open", "now it is slower than that"


def test_slowness_is_forgotten_once_it_has_been_fast() -> None:
    bench = Bench()
    bench.succeed(CONFIG.breaker_window, SLOW)
    bench.clock.advance(CONFIG.breaker_open_s)
    bench.succeed(1, FAST)
    bench.succeed(CONFIG.breaker_window, SLOW)
    assert bench.breaker.state == "open"


@pytest.mark.parametrize(("fault", "state"), [(Fault.NETWORK, "half_open"), (Fault.SERVER, "open")])
def test_a_health_probe_ends_the_waiting_only_for_what_it_proves(fault: Fault, state: str) -> None:
    bench = Bench()
    bench.fail(3, fault)
    bench.breaker.reached()
    assert bench.breaker.state == state


def test_it_knows_when_it_last_served() -> None:
    bench = Bench()
    assert not bench.breaker.served_within(1000)
    bench.succeed()
    bench.clock.advance(5)
    assert bench.breaker.served_within(6)
    assert not bench.breaker.served_within(5)


VERDICTS = st.one_of(
    st.builds(lambda s: lambda permit: permit.succeeded(s), st.sampled_from([FAST, SLOW])),
    st.builds(lambda f: lambda permit: permit.failed(f, None), st.sampled_from(list(Fault))),
    st.builds(lambda s: lambda permit: permit.failed(Fault.BUSY, s), st.floats(0.1, 100)),
    st.just(lambda permit: permit.abandon()),
)
STEPS = st.one_of(
    st.just("admit"), st.just("reached"), st.floats(0, 15), st.tuples(st.integers(0, 9), VERDICTS)
)


@given(st.lists(STEPS, max_size=120), st.sampled_from(list(Tier)))
def test_whatever_happens_it_stays_sound(steps: list[Any], tier: Tier) -> None:
    """`refusal` and `admit` agree, half-open never has two, and the events tell the whole story."""
    bench = Bench(tier)
    permits: list[Permit] = []
    for step in steps:
        match step:
            case "admit":
                permits += admitted(bench.breaker)
            case "reached":
                bench.breaker.reached()
            case float():
                bench.clock.advance(step)
            case (place, verdict) if place < len(permits):
                verdict(permits.pop(place))
    at = "closed"
    for old, new in bench.moves:
        assert old == at != new
        at = new
    assert at == bench.breaker.state


def admitted(breaker: Breaker) -> list[Permit]:
    """One permit, or none when it is refused, as `refusal` said before."""
    refusal, state = breaker.refusal(), breaker.state
    try:
        permit = breaker.admit()
    except BackendError:
        assert refusal is not None
        assert breaker.state == state, "a refusal changes nothing"
        return []
    assert refusal is None
    assert breaker.state != "half_open" or is_refused(breaker)
    return [permit]

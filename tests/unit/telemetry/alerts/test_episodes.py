"""Each thing that goes wrong is told once, and once more when it is over."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hybridge.telemetry.alerts.alert import Finding, Name, State
from hybridge.telemetry.alerts.episodes import Episodes
from hybridge.testing.clock import ManualClock

REPEAT_S = 300.0
NAMES = (Name.BREAKER_OPEN, Name.BACKEND_UNAVAILABLE)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(("a", "b")),
        st.booleans(),
        st.floats(min_value=0, max_value=400),
    ),
    max_size=60,
)


def wrong(bad: bool = True, subject: str = "a", value: float = 7.0) -> Finding:
    return Finding(Name.LATENCY, subject, bad, value, 5.0)


def episodes() -> tuple[Episodes, ManualClock]:
    clock = ManualClock()
    return Episodes(REPEAT_S, clock), clock


def test_it_is_told_once_and_once_when_it_is_over():
    told, clock = episodes()
    first = told.note(wrong())
    assert (first.state, first.value, first.since) == (State.FIRING, 7.0, clock.now())
    clock.advance(1000)
    assert told.note(wrong()) is None
    over = told.note(wrong(bad=False, value=3.0))
    assert (over.state, over.value, over.limit, over.since) == (
        State.RESOLVED,
        3.0,
        5.0,
        first.since,
    )
    assert told.note(wrong(bad=False)) is None


def test_what_was_never_wrong_is_never_over():
    told, _ = episodes()
    assert told.note(wrong(bad=False)) is None


def test_what_comes_back_too_soon_has_to_wait():
    told, clock = episodes()
    told.note(wrong())
    told.note(wrong(bad=False))
    clock.advance(10)
    began = clock.now()
    assert told.note(wrong()) is None
    assert (told.due(), told.firing) == ([], ())
    clock.advance(REPEAT_S)
    (alert,) = told.due()
    assert (alert.state, alert.since) == (State.FIRING, began)
    assert told.firing == (alert,)
    assert told.due() == []


def test_what_is_over_before_it_was_told_is_not_told():
    told, clock = episodes()
    told.note(wrong())
    told.note(wrong(bad=False))
    told.note(wrong())
    assert told.note(wrong(bad=False)) is None
    clock.advance(2 * REPEAT_S)
    assert told.due() == []


def test_what_it_was_about_may_go_away():
    told, _ = episodes()
    told.note(wrong(subject="a"))
    told.note(wrong(subject="b"))
    (alert,) = told.drop(lambda key: key[1] == "a")
    assert (alert.subject, alert.state) == ("a", State.RESOLVED)
    assert [alert.subject for alert in told.firing] == ["b"]


@given(STEPS)
def test_any_history_is_told_exactly_once_an_episode(steps):
    told, clock = episodes()
    heard: dict[tuple, list] = {}
    now: dict[tuple, bool] = {}
    for name, subject, bad, pause_s in steps:
        clock.advance(pause_s)
        alerts = [told.note(Finding(name, subject, bad)), *told.due()]
        now[name, subject] = bad
        for alert in filter(None, alerts):
            key = (alert.name, alert.subject)
            assert now[key] is (alert.state is State.FIRING)
            heard.setdefault(key, []).append(alert)
    clock.advance(REPEAT_S)
    for alert in told.due():
        heard.setdefault((alert.name, alert.subject), []).append(alert)
    for key, alerts in heard.items():
        states = [alert.state for alert in alerts]
        assert states == [(State.FIRING, State.RESOLVED)[i % 2] for i in range(len(states))]
        fired = [alert.at for alert in alerts if alert.state is State.FIRING]
        assert all((b - a).total_seconds() >= REPEAT_S - 1e-3 for a, b in pairwise(fired))
        assert now[key] is (states[-1] is State.FIRING)
    assert {key for key, bad in now.items() if bad} == {
        (alert.name, alert.subject) for alert in told.firing
    }

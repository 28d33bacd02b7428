"""The sums read exactly as the library's own metrics do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from hybridge.telemetry.series import Counts, Spread

BOUNDS = (0.5, 1.0, 2.5)
LABELS = st.sampled_from([("a", "x"), ("b", "x"), ("a", 'y "quoted"')])
AMOUNTS = st.floats(0, 1e6)
VALUES = st.one_of(st.sampled_from(BOUNDS), st.floats(0, 10))


def shown(registry: CollectorRegistry) -> list[str]:
    """Without the moments of creation, which ours do not tell."""
    return [
        line for line in generate_latest(registry).decode().splitlines() if "_created" not in line
    ]


@given(told=st.lists(st.tuples(LABELS, AMOUNTS)))
def test_counts(told):
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    counts = Counts(ours, "n", "help", "one", "two")
    counter = Counter("hybridge_n", "help", ["one", "two"], registry=theirs)
    for labels, amount in told:
        counts.add(labels, amount)
        counter.labels(*labels).inc(amount)
    assert shown(ours) == shown(theirs)


@given(told=st.lists(st.tuples(LABELS, VALUES)))
def test_spread(told):
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    spread = Spread(ours, "s", "help", BOUNDS, "one", "two")
    histogram = Histogram("hybridge_s", "help", ["one", "two"], buckets=BOUNDS, registry=theirs)
    for labels, value in told:
        spread.observe(value, labels)
        histogram.labels(*labels).observe(value)
    assert shown(ours) == shown(theirs)


def test_without_labels_there_is_a_zero_from_the_start():
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    Counts(ours, "n", "help"), Spread(ours, "s", "help", BOUNDS)
    Counter("hybridge_n", "help", registry=theirs)
    Histogram("hybridge_s", "help", buckets=BOUNDS, registry=theirs)
    assert shown(ours) == shown(theirs)

"""What was learned, as Prometheus reads it."""

from __future__ import annotations

import pytest
from tests.unit.routing.own_models import HEAD, MONTH, NOW, PAIR, World

from hybridge.routing.adaptation import adapt
from hybridge.telemetry.metrics import Metrics


def test_it_shows_who_speaks_and_how_good_the_edge_is():
    metrics, found = Metrics(), World().evidence(100)
    older = adapt(PAIR, found[:10], NOW, head=HEAD, half_life=MONTH)
    known = adapt(PAIR, found, NOW, head=HEAD, half_life=MONTH)
    metrics.learned.watch(lambda: [older, known])
    names = {"edge": "local", "cloud": "gpt"}

    def value(name, **more):
        return metrics.registry.get_sample_value(f"hybridge_{name}", names | more)

    assert value("adapter_active") == 1
    assert value("adapter_comparisons") == 100
    assert value("edge_accuracy", task="chat") == pytest.approx(known.tasks["chat"].accuracy)
    metrics.learned.watch(lambda: [older])
    assert value("adapter_active") == 0

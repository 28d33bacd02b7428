"""R58: what the models of this device cost."""

from __future__ import annotations

import pytest
from msgspec import Struct

from hybridge.core.events import Inferred
from hybridge.telemetry.metrics import Metrics


class Reading(Struct, frozen=True):
    index: int = 0
    busy: float = 0.25
    used_bytes: int = 100
    total_bytes: int = 1000


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def value(metrics):
    def of(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(f"hybridge_{name}", labels)

    return of


def test_an_answer_of_a_local_model(metrics, value):
    metrics.on_event(Inferred("local", "prefill", 300, 1.5))
    metrics.on_event(Inferred("local", "decode", 20, 2.0))
    metrics.on_event(Inferred("local", "decode", 30, 1.0))
    decode = {"backend": "local", "phase": "decode"}
    assert value("inference_tokens_total", **decode) == 50
    assert value("inference_seconds_sum", **decode) == 3.0
    assert value("inference_seconds_count", **decode) == 2
    assert value("tokens_per_second", **decode) == 30.0
    assert value("tokens_per_second", backend="local", phase="prefill") == 200.0
    metrics.forget("local")
    assert value("tokens_per_second", **decode) is None
    assert value("inference_tokens_total", **decode) == 50


def test_runs_of_the_encoder(metrics, value):
    metrics.inference.encoded(3, 90, 0.004)
    metrics.inference.encoded(0, 128, 0.001)
    metrics.inference.missed("late")
    encode = {"backend": "scorer", "phase": "encode"}
    assert value("inference_seconds_count", **encode) == 2
    assert value("encoder_batch_size_count") == 1
    assert value("encoder_batch_size_bucket", le="2.0") == 0
    assert value("encoder_batch_size_bucket", le="4.0") == 1
    assert value("encoder_missed_total", reason="late") == 1


def test_queues_memory_and_gpus_are_read_when_somebody_looks(metrics, value):
    depths = {"scorer": 0}
    metrics.inference.watch_queues(lambda: depths)
    metrics.inference.watch_memory(lambda: {"resident": 5, "available": None})
    metrics.inference.watch_gpus(lambda: [Reading()])
    depths["scorer"] = 7
    assert value("queue_depth", backend="scorer") == 7
    assert value("memory_bytes", kind="resident") == 5
    assert value("memory_bytes", kind="available") is None
    assert value("gpu_busy_ratio", gpu="0") == 0.25
    assert value("gpu_memory_bytes", gpu="0", kind="total") == 1000

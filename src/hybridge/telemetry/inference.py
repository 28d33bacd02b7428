"""What the models of this device cost: time, tokens, queues, memory, GPUs (R58)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from prometheus_client.registry import CollectorRegistry

from hybridge.core.events import Inferred
from hybridge.telemetry.series import Counts, Labels, Readings, Spread

SCORER = "scorer"
"""The label `backend` of the scorer's encoder."""
ENCODE = "encode"
_SECONDS = (
    *(0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5),
    *(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
)
_BATCHES = (1, 2, 4, 8, 16, 32)


class GpuReading(Protocol):
    """One GPU at one moment."""

    @property
    def index(self) -> int: ...
    @property
    def busy(self) -> float: ...
    @property
    def used_bytes(self) -> int: ...
    @property
    def total_bytes(self) -> int: ...


class Inference:
    """Labels are bounded: configured backends, three phases, and the GPUs there are."""

    def __init__(self, registry: CollectorRegistry) -> None:
        of_phase = ("backend", "phase")
        self._seconds = Spread(
            registry, "inference_seconds", "Computing, by phase.", _SECONDS, *of_phase
        )
        self._tokens = Counts(registry, "inference_tokens", "Tokens computed, by phase.", *of_phase)
        self._pace = Readings(
            registry, "tokens_per_second", "Of the last computation, by phase.", *of_phase
        )
        self._batch = Spread(registry, "encoder_batch_size", "Texts encoded in one run.", _BATCHES)
        self._missed = Counts(
            registry, "encoder_missed", "Texts that were scored without a vector.", "reason"
        )
        self._queue = Readings(
            registry, "queue_depth", "Requests that wait for a local model.", "backend"
        )
        self._memory = Readings(registry, "memory_bytes", "Main memory, by kind.", "kind")
        self._gpu_busy = Readings(
            registry, "gpu_busy_ratio", "Share of time in which a GPU computes.", "gpu"
        )
        self._gpu_memory = Readings(
            registry, "gpu_memory_bytes", "Memory of a GPU, by kind.", "gpu", "kind"
        )
        self._last: dict[Labels, float] = {}
        self._pace.source = self._last.items

    def on_inferred(self, event: Inferred) -> None:
        """Counts one phase of one answer, or one run of the encoder."""
        labels = (event.backend, event.phase)
        self._seconds.observe(event.seconds, labels)
        self._tokens.add(labels, event.tokens)
        if event.seconds > 0:
            self._last[labels] = event.tokens / event.seconds

    def encoded(self, texts: int, tokens: int, seconds: float) -> None:
        """Counts one run of the scorer's encoder; 0 texts: nobody waited to its end."""
        self.on_inferred(Inferred(SCORER, ENCODE, tokens, seconds))
        if texts:
            self._batch.observe(texts)

    def missed(self, reason: str) -> None:
        """Counts a text whose vector did not come in time: `queue` or `late`."""
        self._missed.add((reason,))

    def forget(self, backend: str) -> None:
        """Says nothing more of how fast a backend was that is no more, or is another."""
        for labels in [labels for labels in self._last if labels[0] == backend]:
            del self._last[labels]

    def watch_queues(self, depths: Callable[[], Mapping[str, int]]) -> None:
        """Where to read how many wait, by backend."""
        self._queue.source = lambda: [((name,), float(n)) for name, n in depths().items()]

    def watch_memory(self, memory: Callable[[], Mapping[str, int | None]]) -> None:
        """Where to read bytes of main memory, by kind."""
        self._memory.source = lambda: [
            ((kind,), float(n)) for kind, n in memory().items() if n is not None
        ]

    def watch_gpus(self, read: Callable[[], Iterable[GpuReading]]) -> None:
        """Where to read the GPUs."""
        self._gpu_busy.source = lambda: [((str(gpu.index),), gpu.busy) for gpu in read()]
        self._gpu_memory.source = lambda: [
            ((str(gpu.index), kind), float(size))
            for gpu in read()
            for kind, size in (("used", gpu.used_bytes), ("total", gpu.total_bytes))
        ]

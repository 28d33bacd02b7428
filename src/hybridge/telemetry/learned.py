"""What was learned of pairs of models, as Prometheus reads it (R2, R24)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from prometheus_client.registry import CollectorRegistry

from hybridge.routing.adaptation import Adaptation
from hybridge.telemetry.series import Labels, Readings

Known = Callable[[], Sequence[Adaptation]]


class Learned:
    """Read from the learner itself. Labels are names of backends and kinds of tasks."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._active = Readings(
            registry, "adapter_active", "1 where the adapter speaks, else 0.", "edge", "cloud"
        )
        self._comparisons = Readings(
            registry, "adapter_comparisons", "Comparisons it was tried on.", "edge", "cloud"
        )
        self._accuracy = Readings(
            registry,
            "edge_accuracy",
            "Share of good enough edge answers, 0-1, shrunk and faded.",
            "edge",
            "cloud",
            "task",
        )

    def watch(self, known: Known) -> None:
        """Where to read, whenever somebody looks."""
        self._active.source = lambda: _latest(known, lambda one: float(one.adapter is not None))
        self._comparisons.source = lambda: _latest(known, lambda one: one.trial.comparisons)
        self._accuracy.source = lambda: [
            ((edge, cloud, task), seen.accuracy)
            for (edge, cloud), one in _by_names(known).items()
            for task, seen in one.tasks.items()
        ]


def _latest(known: Known, read: Callable[[Adaptation], float]) -> Iterator[tuple[Labels, float]]:
    for names, one in _by_names(known).items():
        yield names, read(one)


def _by_names(known: Known) -> dict[tuple[str, str], Adaptation]:
    """Of several versions of an edge model, the one that was learned last."""
    return {(one.pair.edge, one.pair.cloud): one for one in known() if one.pair is not None}

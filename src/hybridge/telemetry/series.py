"""Numbers that are added up now and shown when Prometheus asks for them.

The library's own counters take a lock for each step and look their labels up anew: 20 µs a request.
These belong to one event loop, and are a collector each (prometheus_client's `Collector`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.utils import floatToGoString

Labels = tuple[str, ...]
"""Their values, in the order of the names."""


class Counts(Collector):
    """A counter for each set of labels."""

    def __init__(
        self, registry: CollectorRegistry, name: str, help_text: str, *labels: str
    ) -> None:
        self._name = f"hybridge_{name}"
        self._help = help_text
        self.label_names = labels
        self._counts: dict[Labels, float] = defaultdict(float)
        if not labels:
            self._counts[()] = 0.0
        registry.register(self)

    def add(self, labels: Labels = (), amount: float = 1.0) -> None:
        """Counts `amount`, at least 0."""
        self._counts[labels] += amount

    def describe(self) -> Iterator[CounterMetricFamily]:
        """The name and the labels alone."""
        yield CounterMetricFamily(self._name, self._help, labels=self.label_names)

    def collect(self) -> Iterator[CounterMetricFamily]:
        """All of them, as of now."""
        family = CounterMetricFamily(self._name, self._help, labels=self.label_names)
        for labels, count in self._counts.items():
            family.add_metric(labels, count)
        yield family


class Spread(Collector):
    """A histogram for each set of labels."""

    def __init__(
        self,
        registry: CollectorRegistry,
        name: str,
        help_text: str,
        bounds: Sequence[float],
        *labels: str,
    ) -> None:
        """`bounds`: upper ends of the buckets, ascending; one without end is added."""
        self._name = f"hybridge_{name}"
        self._help = help_text
        self.label_names = labels
        self._bounds = tuple(bounds)
        self._seen: dict[Labels, list[int]] = {} if labels else {(): self._none()}
        self._sums: dict[Labels, float] = defaultdict(float)
        registry.register(self)

    def observe(self, value: float, labels: Labels = ()) -> None:
        """Counts one value."""
        seen = self._seen.get(labels)
        if seen is None:
            seen = self._seen[labels] = self._none()
        seen[bisect_left(self._bounds, value)] += 1
        self._sums[labels] += value

    def describe(self) -> Iterator[HistogramMetricFamily]:
        """The name and the labels alone."""
        yield HistogramMetricFamily(self._name, self._help, labels=self.label_names)

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """All of them, as of now."""
        family = HistogramMetricFamily(self._name, self._help, labels=self.label_names)
        ends = [*map(floatToGoString, self._bounds), "+Inf"]
        for labels, seen in self._seen.items():
            buckets = list(zip(ends, accumulate(seen), strict=True))
            family.add_metric(labels, buckets, self._sums[labels])
        yield family

    def _none(self) -> list[int]:
        return [0] * (len(self._bounds) + 1)


class Readings(Collector):
    """A gauge for each set of labels, read when Prometheus asks; none while there is no source."""

    def __init__(
        self, registry: CollectorRegistry, name: str, help_text: str, *labels: str
    ) -> None:
        self._name = f"hybridge_{name}"
        self._help = help_text
        self.label_names = labels
        self.source: Callable[[], Iterable[tuple[Labels, float]]] = tuple
        """Where to read."""
        registry.register(self)

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The name and the labels alone."""
        yield GaugeMetricFamily(self._name, self._help, labels=self.label_names)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """All of them, as of now."""
        family = GaugeMetricFamily(self._name, self._help, labels=self.label_names)
        for labels, value in self.source():
            family.add_metric(labels, value)
        yield family

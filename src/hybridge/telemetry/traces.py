"""OpenTelemetry traces (R80): spans made of what has happened already, so nobody waits for them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from hybridge.core.events import AttemptFailed, Compared, GatewayEvent, Served
from hybridge.telemetry.outbound import origin
from hybridge.telemetry.spans import Backends

REMEMBERED = 4096
"""Requests of which failed calls, or the span, are kept until the rest of them is known."""
_PATH = "/v1/traces"


class Collector(Struct, frozen=True):
    """Where spans go, and under which name."""

    endpoint: str
    headers: Mapping[str, str]
    service: str
    sample: float
    """Share of requests, where the caller's own trace does not say."""

    def __repr__(self) -> str:
        """Without its headers, which hold a key."""
        return f"Collector(at={origin(self.endpoint)!r}, service={self.service!r})"

    @property
    def url(self) -> str:
        base = self.endpoint.rstrip("/")
        return base if base.endswith(_PATH) else base + _PATH


Place = Any
"""Where in its trace a request is, in the SDK's own terms."""


class Tracing(Protocol):
    """What makes spans and sends them: `telemetry.tracer.Tracer`, which needs the SDK."""

    def request(
        self, served: Served, failures: Sequence[AttemptFailed], backends: Backends
    ) -> Place | None:
        """The spans of a request that is over; None where it is not sampled."""
        ...

    def comparison(self, compared: Compared, inside: Place) -> None:
        """The span of a shadow comparison."""
        ...

    async def close(self) -> None: ...


class Traces:
    """A subscriber. A request is a span, each call to a backend one in it, and a shadow comparison
    another. Without a collector it does nothing."""

    def __init__(self, begin: Callable[[Collector], Tracing]) -> None:
        self._begin = begin
        self._collector: Collector | None = None
        self._tracing: Tracing | None = None
        self._backends: Backends = {}
        self._failed: OrderedDict[str, list[AttemptFailed]] = OrderedDict()
        self._places: OrderedDict[str, Place] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def take(self, collector: Collector | None, backends: Backends) -> None:
        """From now on spans go there, and these are the backends."""
        self._backends = backends
        if collector == self._collector:
            return
        self._put_down()
        self._tracing = None if collector is None else self._begin(collector)
        self._collector = collector

    def on_event(self, event: GatewayEvent) -> None:
        """See `core.events.Subscriber`. Never waits."""
        if self._tracing is None:
            return
        if isinstance(event, Served):
            self._on_served(event, self._tracing)
        elif isinstance(event, AttemptFailed):
            before = self._failed.get(event.request_id, [])
            _keep(self._failed, event.request_id, [*before, event])
        elif isinstance(event, Compared):
            place = self._places.pop(event.request_id, None)
            if place is not None:
                self._tracing.comparison(event, place)

    async def close(self) -> None:
        """Sends what is waiting, for a few seconds at most."""
        self._put_down()
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _on_served(self, served: Served, tracing: Tracing) -> None:
        failures = self._failed.pop(served.request_id, ())
        place = tracing.request(served, failures, self._backends)
        if place is not None and served.plan is not None and served.plan.shadow is not None:
            _keep(self._places, served.request_id, place)

    def _put_down(self) -> None:
        tracing, self._tracing, self._collector = self._tracing, None, None
        self._failed.clear()
        self._places.clear()
        if tracing is not None:
            task = asyncio.create_task(tracing.close(), name="traces closing")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


def _keep(kept: OrderedDict[str, Any], request_id: str, value: Any) -> None:
    kept[request_id] = value
    if len(kept) > REMEMBERED:
        kept.popitem(last=False)

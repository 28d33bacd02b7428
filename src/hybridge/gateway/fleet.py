"""All backends as planning sees them: who there is, who is well, how fast and how dear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from hybridge.core.backend import Backend, BackendSpec
from hybridge.core.request import AUTO, Tier
from hybridge.execution.breaker import Breaker
from hybridge.execution.latency import Latencies
from hybridge.gateway.status import BackendStatus, Status
from hybridge.routing.router import Candidate

LOADING = "loading"
"""Why a backend is passed over whose model is not there yet."""


class Health(Protocol):
    """What is known of how the backends are."""

    def refusal(self, backend: str) -> str | None:
        """Why the backend counts as unavailable, in words; None while it does not."""
        ...


class Fleet:
    """Backends of both tiers with their breakers, health and measured latency."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        breakers: Mapping[str, Breaker],
        health: Health,
        latencies: Latencies,
        is_loading: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`is_loading` tells of a backend, by name, whether its model is on its way."""
        self.backends = backends
        clouds = (backend for backend in backends.values() if backend.spec.tier is Tier.CLOUD)
        self._first_cloud = next(clouds, None)
        models = {backend.spec.model: name for name, backend in reversed(list(backends.items()))}
        self._names = models | {name: name for name in backends}
        self._names.pop(AUTO, None)
        self._breakers = breakers
        self._health = health
        self._is_loading = is_loading
        self.latencies = latencies

    @property
    def specs(self) -> tuple[BackendSpec, ...]:
        """In configuration order."""
        return tuple(backend.spec for backend in self.backends.values())

    def spec(self, name: str) -> BackendSpec:
        return self.backends[name].spec

    def named(self, model: str) -> BackendSpec | None:
        """The backend that a caller means by `model`: by its own name, else by its model's."""
        name = self._names.get(model)
        return None if name is None else self.backends[name].spec

    def candidates(
        self, over_budget: str | None, names: Iterable[str] | None = None
    ) -> list[Candidate]:
        """Every backend, or those named, each with why it cannot be asked now if it cannot."""
        backends = self.backends
        return [
            self._candidate(backends[name].spec, over_budget)
            for name in (backends if names is None else names)
            if name in backends
        ]

    def preferred_cloud(self) -> BackendSpec | None:
        """The cloud that savings are measured against: the first one configured."""
        return None if self._first_cloud is None else self._first_cloud.spec

    def status(self) -> Status:
        """Ready when at least one backend can be asked."""
        rows = tuple(self._row(candidate) for candidate in self.candidates(None))
        ready = any(row.available for row in rows)
        why = "; ".join(_why(row) for row in rows if row.reason)
        return Status(ready, None if ready else why or "no backend is configured", rows)

    def _candidate(self, spec: BackendSpec, over_budget: str | None) -> Candidate:
        breaker = self._breakers[spec.name]
        loading = LOADING if self._is_loading(spec.name) else None
        refusal = loading or breaker.refusal() or self._health.refusal(spec.name)
        if refusal is None and over_budget and spec.tier is Tier.CLOUD:
            refusal = over_budget
        return Candidate(
            spec,
            unavailable=refusal,
            in_need=loading is not None or (breaker.merely_slow and not over_budget),
            latency_s=self.latencies.of(spec.name),
            retry_after_s=breaker.retry_after_s or None,
            limited=breaker.limited and loading is None,
        )

    def _row(self, candidate: Candidate) -> BackendStatus:
        spec = candidate.spec
        why = candidate.unavailable
        return BackendStatus(spec.name, spec.tier, spec.model, why is None, why)


def _why(row: BackendStatus) -> str:
    return f"{LOADING} {row.name}" if row.reason == LOADING else f"{row.name}: {row.reason}"

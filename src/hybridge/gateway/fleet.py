"""All backends as planning sees them: who there is, who is well, how fast and how dear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridge.core.backend import Backend, BackendSpec
from hybridge.core.request import AUTO, Tier
from hybridge.execution.breaker import Breaker
from hybridge.execution.health import Health
from hybridge.execution.latency import Latencies
from hybridge.gateway.status import BackendStatus, Status
from hybridge.routing.router import Candidate


class Fleet:
    """Backends of both tiers with their breakers, health and measured latency."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        breakers: Mapping[str, Breaker],
        health: Health,
        latencies: Latencies,
    ) -> None:
        self.backends = backends
        self._breakers = breakers
        self._health = health
        self.latencies = latencies

    @property
    def specs(self) -> tuple[BackendSpec, ...]:
        """In configuration order."""
        return tuple(backend.spec for backend in self.backends.values())

    def spec(self, name: str) -> BackendSpec:
        return self.backends[name].spec

    def named(self, model: str) -> BackendSpec | None:
        """The backend that a caller means by `model`: by its own name, else by its model's."""
        if model == AUTO:
            return None
        by_name = self.backends.get(model)
        if by_name is not None:
            return by_name.spec
        return next((spec for spec in self.specs if spec.model == model), None)

    def candidates(self, over_budget: str | None) -> Sequence[Candidate]:
        """Every backend, with the reason why it cannot be asked now, if there is one."""
        return [self._candidate(spec, over_budget) for spec in self.specs]

    def preferred_cloud(self) -> BackendSpec | None:
        """The cloud that savings are measured against: the first one configured."""
        return next((spec for spec in self.specs if spec.tier is Tier.CLOUD), None)

    def status(self) -> Status:
        """Ready when at least one backend can be asked."""
        rows = tuple(self._row(candidate) for candidate in self.candidates(None))
        ready = any(row.available for row in rows)
        why = "; ".join(f"{row.name}: {row.reason}" for row in rows if row.reason)
        return Status(ready, None if ready else why or "no backend is configured", rows)

    def _candidate(self, spec: BackendSpec, over_budget: str | None) -> Candidate:
        breaker = self._breakers[spec.name]
        refusal = breaker.refusal() or self._health.refusal(spec.name)
        if refusal is None and over_budget and spec.tier is Tier.CLOUD:
            refusal = over_budget
        return Candidate(
            spec,
            unavailable=refusal,
            latency_s=self.latencies.of(spec.name),
            retry_after_s=breaker.retry_after_s or None,
        )

    def _row(self, candidate: Candidate) -> BackendStatus:
        spec = candidate.spec
        why = candidate.unavailable
        return BackendStatus(spec.name, spec.tier, spec.model, why is None, why)

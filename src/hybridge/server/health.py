"""`/livez`, `/readyz`, `/healthz` and `/metrics` (R72): for machines, without a key."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from hybridge.server.drain import Drain
from hybridge.server.exchange import Exchange, Response
from hybridge.server.gateway_port import GatewayPort


class Exposition(Protocol):
    """Metrics in a text that Prometheus reads."""

    @property
    def content_type(self) -> str: ...

    def render(self) -> bytes: ...


class Health:
    """Whether this process lives, takes work, and with which backends."""

    def __init__(self, gateway: GatewayPort, drain: Drain, metrics: Exposition) -> None:
        self._gateway = gateway
        self._drain = drain
        self._metrics = metrics

    async def live(self, exchange: Exchange) -> None:
        """200 as long as the event loop turns, also while draining."""
        await exchange.respond(Response(200, b'{"status":"alive"}'))

    async def ready(self, exchange: Exchange) -> None:
        """200 when requests can be served, else 503 with the reason."""
        reason = self._why_not_ready()
        body = {"status": "not ready" if reason else "ready", "reason": reason}
        await exchange.respond(Response(503 if reason else 200, msgspec.json.encode(body)))

    async def backends(self, exchange: Exchange) -> None:
        """The same, with every backend's state and the configuration in force."""
        reason, status = self._why_not_ready(), self._gateway.status()
        all_well = all(backend.available for backend in status.backends)
        body: dict[str, Any] = {
            "status": "unavailable" if reason else "ok" if all_well else "degraded",
            "reason": reason,
            "backends": status.backends,
            "config": status.config,
        }
        await exchange.respond(Response(503 if reason else 200, msgspec.json.encode(body)))

    async def metrics(self, exchange: Exchange) -> None:
        kind = (b"content-type", self._metrics.content_type.encode())
        await exchange.respond(Response(200, self._metrics.render(), content_type=kind))

    def _why_not_ready(self) -> str | None:
        if self._drain.begun:
            return "shutting down"
        status = self._gateway.status()
        return None if status.ready else status.reason or "not ready"

"""`GET /v1/models`: what a caller can name."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from hybridge.core.backend import BackendSpec
from hybridge.core.errors import UnknownModel
from hybridge.core.request import AUTO
from hybridge.server.exchange import Exchange, Response
from hybridge.server.gateway_port import GatewayPort
from hybridge.server.terms import Terms


class Models:
    """Lists `auto` and every backend."""

    def __init__(self, gateway: GatewayPort, terms: Terms, since: datetime) -> None:
        """`since`: when this gateway started, given as every model's `created`."""
        self._gateway = gateway
        self._terms = terms
        self._since = int(since.timestamp())

    async def every(self, exchange: Exchange) -> None:
        self._terms.keys.tenant(exchange.headers)
        body = {"object": "list", "data": self._rows()}
        await exchange.respond(Response(200, msgspec.json.encode(body)))

    async def one(self, exchange: Exchange) -> None:
        """`GET /v1/models/{name}`. Raises `UnknownModel`."""
        self._terms.keys.tenant(exchange.headers)
        (name,) = exchange.arguments
        row = next((row for row in self._rows() if row["id"] == name), None)
        if row is None:
            raise UnknownModel("there is no model of that name", param="model")
        await exchange.respond(Response(200, msgspec.json.encode(row)))

    def _rows(self) -> list[dict[str, Any]]:
        auto = self._row(AUTO, {"tier": None, "model": None})
        return [auto, *(self._row(spec.name, _details(spec)) for spec in self._gateway.models())]

    def _row(self, name: str, details: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": name,
            "object": "model",
            "created": self._since,
            "owned_by": "hybridge",
            "hybridge": details,
        }


def _details(spec: BackendSpec) -> dict[str, Any]:
    return {
        "tier": spec.tier,
        "model": spec.model,
        "features": sorted(spec.features),
        "context_tokens": spec.context_tokens,
        "leaves_device": spec.leaves_device,
    }

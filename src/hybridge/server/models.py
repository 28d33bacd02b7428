"""`GET /v1/models`: what a caller can name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from hybridge.core.backend import BackendSpec
from hybridge.core.embedding import EmbedderSpec
from hybridge.core.errors import UnknownModel
from hybridge.core.request import AUTO
from hybridge.server.exchange import Exchange, Response
from hybridge.server.gateway_port import GatewayPort
from hybridge.server.terms import Terms


class Models:
    """Lists `auto` and every backend, for OpenAI's clients and for Anthropic's: a row has the
    members of both, and the list is always one page."""

    def __init__(self, gateway: GatewayPort, terms: Terms, since: datetime) -> None:
        """`since`: when this gateway started, given as every model's `created`."""
        self._gateway = gateway
        self._terms = terms
        self._since = since

    async def every(self, exchange: Exchange) -> None:
        self._terms.keys.tenant(exchange.headers)
        rows = self._rows()
        body = {
            "object": "list",
            "data": rows,
            "has_more": False,
            "first_id": rows[0]["id"],
            "last_id": rows[-1]["id"],
        }
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
        chats, embedders = self._gateway.models(), self._gateway.embedders()
        auto = self._row(AUTO, _all_together(chats))
        return [auto, *(self._row(spec.name, _details(spec)) for spec in (*chats, *embedders))]

    def _row(self, name: str, details: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": name,
            "object": "model",
            "created": int(self._since.timestamp()),
            "owned_by": "hybridge",
            "type": "model",
            "display_name": name,
            "created_at": self._since,
            "hybridge": details,
        }


def _all_together(specs: Sequence[BackendSpec]) -> dict[str, Any]:
    """What `auto` can do: whatever one of them can."""
    contexts = [spec.context_tokens for spec in specs]
    known = [context for context in contexts if context is not None]
    return {
        "capability": "chat",
        "tier": None,
        "model": None,
        "features": sorted(frozenset[str]().union(*(spec.features for spec in specs))),
        "context_tokens": max(known, default=None) if len(known) == len(contexts) else None,
        "leaves_device": any(spec.leaves_device for spec in specs),
    }


def _details(spec: BackendSpec | EmbedderSpec) -> dict[str, Any]:
    more = {"dimensions": spec.dimensions} if isinstance(spec, EmbedderSpec) else {}
    return {
        "capability": "embed" if more else "chat",
        "tier": spec.tier,
        "model": spec.model,
        "features": sorted(spec.features),
        "context_tokens": spec.context_tokens,
        "leaves_device": spec.leaves_device,
    } | more

"""The ASGI application: which path is whose, and what happens to errors."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from hybridge.core.errors import HybridgeError
from hybridge.server.config import ServerConfig
from hybridge.server.drain import Drain
from hybridge.server.errors import INTERNAL, Failure, Redact, failure
from hybridge.server.exchange import Exchange, Gone, respond_with
from hybridge.server.routes import Routes
from hybridge.server.terms import Terms

_EXPOSED = (
    "x-request-id", "request-id", "retry-after", "x-hybridge-request-id", "x-hybridge-route",
    "x-hybridge-score", "x-hybridge-model", "x-hybridge-confidence", "x-hybridge-overhead-ms",
    "x-hybridge-degraded", "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests", "x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
)  # fmt: skip
_log = logging.getLogger("hybridge.server")


class App:
    """Finds the endpoint of a request, and turns every error into an answer its client can read."""

    def __init__(
        self, routes: Routes, drain: Drain, terms: Terms, redact: Redact, origins: tuple[str, ...]
    ) -> None:
        self.drain = drain
        """The requests under way; whoever runs the application drains it at the end."""
        self.routes = routes
        self._terms = terms
        self._redact = redact
        self._entry = self._behind_cors(origins)

    def reconfigure(self, config: ServerConfig, keys: Mapping[str, str]) -> None:
        """From the next request on these hold. Where to listen is not changed by it."""
        self._terms.change(config, keys)
        self._entry = self._behind_cors(config.cors_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._entry(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send)
        try:
            await self.routes.find(exchange)(exchange)
        except Gone:
            _log.debug("%s: the caller hung up", exchange.id)
        except HybridgeError as error:
            await _tell(exchange, failure(error, self._redact))
        except Exception:
            _log.exception("%s failed", exchange.id)
            await _tell(exchange, INTERNAL)

    def _behind_cors(self, origins: tuple[str, ...]) -> ASGIApp:
        if not origins:
            return self._serve
        return CORSMiddleware(
            self._serve,
            allow_origins=origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=("*",),
            expose_headers=_EXPOSED,
        )


async def _tell(exchange: Exchange, failed: Failure) -> None:
    """In a stream the error is its last event (R71)."""
    if exchange.streaming and exchange.last_words is not None:
        await exchange.end(exchange.last_words(failed))
    elif not exchange.over:
        await respond_with(exchange, failed)

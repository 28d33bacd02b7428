"""The composition root: builds every part from settings, and takes it down again."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from starlette.types import ASGIApp

from hybridge.budget.ledger import Ledger
from hybridge.cache.exact import ExactCache
from hybridge.cloud.transport import Transport
from hybridge.core.backend import Backend
from hybridge.core.clock import Clock, SystemClock
from hybridge.core.events import Events
from hybridge.core.request import AUTO, Message, Request
from hybridge.edge.encoder import Encoder
from hybridge.edge.fetch import Fetcher
from hybridge.edge.reloadable import Reloadable
from hybridge.edge.threads import Shares, shares
from hybridge.execution.breaker import Breaker
from hybridge.execution.confidence import Judge
from hybridge.execution.egress import Guarded
from hybridge.execution.health import Health
from hybridge.execution.latency import Latencies
from hybridge.execution.runner import Runner
from hybridge.gateway.background import Background
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.gateway import Gateway, Patience
from hybridge.gateway.planner import Planner
from hybridge.gateway.recall import Recall
from hybridge.gateway.settle import Settlement
from hybridge.learning.shadow import Shadow
from hybridge.modelstore.store import ModelStore
from hybridge.privacy.guard import Guard
from hybridge.routing.facts import gather
from hybridge.routing.head import Head
from hybridge.routing.rules import Rules
from hybridge.routing.scorer import HeadScorer
from hybridge.routing.session import Sessions
from hybridge.server.app import build_app
from hybridge.settings import Settings
from hybridge.storage.records import Records
from hybridge.telemetry.metrics import Metrics

Around = Callable[[Backend], Backend]
"""Wraps each backend, for instance to add latency."""


@dataclass(frozen=True, slots=True)
class House:
    """A gateway with everything that belongs to it, as long as `open_house` lasts."""

    gateway: Gateway
    app: ASGIApp
    """The HTTP surface, ready for any ASGI server."""
    engines: Mapping[str, Reloadable]
    """The backends that run in this process, by name."""
    remote: Mapping[str, Backend]
    """The backends behind HTTP, by name."""
    planner: Planner

    async def score(self, request: Request) -> float | None:
        """The score of a request, 1-10, also where a rule would settle it."""
        score = await self.planner.score(gather(request))
        return None if score is None else score.value


@asynccontextmanager
async def open_house(
    settings: Settings, *, load: bool = True, around: Around = lambda backend: backend
) -> AsyncIterator[House]:
    """Builds a gateway, loads its models, and takes everything down again at the end.

    With `load=False` no local model is loaded: good for explaining, not for serving. Raises
    `ConfigError` and `ModelError`.
    """
    async with AsyncExitStack() as stack:
        builder = Builder(settings, stack)
        engines = builder.engines()
        transport = await stack.enter_async_context(Transport())
        remote = builder.remote(transport)
        if load:
            for engine in engines.values():
                await engine.load()
                stack.push_async_callback(engine.unload)
        everyone = {name: Guarded(around(b)) for name, b in (engines | remote).items()}
        yield await builder.house(everyone, engines, remote)

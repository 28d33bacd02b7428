"""A gateway with everything that belongs to it."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import numpy as np

from hybridge.budget.ledger import Ledger
from hybridge.cache.exact import ExactCache
from hybridge.core.backend import Backend
from hybridge.core.clock import Clock, SystemClock
from hybridge.core.events import Events
from hybridge.core.redaction import Redactor
from hybridge.core.request import AUTO, Message, Request
from hybridge.edge.encoder import Encoder
from hybridge.edge.reloadable import Reloadable
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
from hybridge.privacy.guard import Guard
from hybridge.routing.facts import gather
from hybridge.routing.head import Head
from hybridge.routing.rules import Rules
from hybridge.routing.scorer import HeadScorer
from hybridge.routing.session import Sessions
from hybridge.server.app import App, build_app
from hybridge.settings import Settings
from hybridge.storage.records import Records
from hybridge.telemetry.metrics import Metrics
from hybridge.wiring import local
from hybridge.wiring.remote import Remote

OVERDUE_S = 5.0
"""How long after its deadline a request is ended that its backend did not end."""
SIMILARITY_TIMEOUT_S = 5.0
"""For comparing two answers in the background; nobody waits for it."""

Around = Callable[[Backend], Backend]
"""Wraps each backend, for instance to add latency."""


@dataclass(frozen=True, slots=True)
class House:
    """What `open_house` built, as long as its block lasts."""

    gateway: Gateway
    app: App
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

    With `load=False` no local model is loaded, nothing is probed and nothing recorded: good for
    explaining, not for serving. Raises `ConfigError` and `ModelError`.
    """
    async with AsyncExitStack() as stack:
        house, health = await Builder(settings, stack, load=load, around=around).build()
        if load:
            watching = asyncio.create_task(health.run(), name="health")
            stack.callback(watching.cancel)
        yield house


class Builder:
    """Builds the parts in the order in which they need each other."""

    def __init__(
        self, settings: Settings, stack: AsyncExitStack, *, load: bool, around: Around
    ) -> None:
        self._settings = settings
        self._stack = stack
        self._load = load
        self._around = around
        self._clock: Clock = SystemClock()
        self._metrics = Metrics()
        self._events = Events(self._metrics.on_event)

    async def build(self) -> tuple[House, Health]:
        """The gateway, and the health probes that want to be run."""
        settings, clock, events = self._settings, self._clock, self._events
        await self._open_records()
        engines = local.engines(settings, events, clock)
        remote = await Remote(settings, self._stack, clock).backends()
        everyone: dict[str, Backend] = {**engines, **remote}
        names = [row.name for row in settings.edge.backends]
        names += [row.name for row in settings.cloud.backends]
        backends: dict[str, Backend] = {
            name: Guarded(self._around(everyone[name])) for name in names
        }
        if self._load:
            await self._load_engines(engines)
        breakers = {
            name: Breaker(name, backend.spec.tier, settings.execution, clock, events)
            for name, backend in backends.items()
        }
        health = Health(
            backends,
            breakers,
            interval_s=settings.execution.probe_interval_s,
            events=events,
            jitter=random.random,
        )
        latencies = Latencies()
        fleet = Fleet(backends, breakers, health, latencies)
        encoder = self._encoder()
        planner = self._planner(encoder)
        recall = self._recall(fleet)
        judge = Judge()
        gateway = Gateway(
            fleet,
            Guard(settings.privacy),
            Ledger(
                settings.budget,
                {row.name: row.daily_usd for row in settings.server.api_keys},
                clock,
            ),
            recall,
            planner,
            self._runner(backends, breakers, judge),
            self._background(judge, encoder),
            Settlement(planner.sessions, latencies, recall, events, clock),
            self._patience(),
            clock,
        )
        app = self._app(gateway)
        self._metrics.watch_in_flight(lambda: len(app.drain))
        return House(gateway, app, engines, remote, planner), health

    async def _open_records(self) -> None:
        url = self._settings.records.url
        if url is not None and self._load:
            records = await Records.open(url)
            self._stack.push_async_callback(records.close)
            self._events.subscribe(records.on_event)

    async def _load_engines(self, engines: Mapping[str, Reloadable]) -> None:
        for engine in engines.values():
            self._stack.push_async_callback(engine.unload)
            await engine.load()

    def _encoder(self) -> Encoder:
        encoder = Encoder.shipped(threads=local.thread_shares(self._settings).scorer)
        self._stack.callback(encoder.close)
        return encoder

    def _planner(self, encoder: Encoder) -> Planner:
        routing, learning = self._settings.routing, self._settings.learning
        timeout_s = routing.score_timeout_ms / 1000
        return Planner(
            Rules.load(routing.rules),
            HeadScorer(Head.shipped(), encoder, timeout_s=timeout_s),
            Sessions(routing.session_window, routing.session_ttl_s, self._clock),
            routing.thresholds,
            fallbacks=routing.fallbacks,
            shadow_rate=learning.shadow_rate,
            draw=random.random,
        )

    def _recall(self, fleet: Fleet) -> Recall | None:
        config = self._settings.cache
        if config is None or config.ttl_s == 0:
            return None
        cache = ExactCache(config, self._clock)
        return Recall(cache, fleet, self._settings.routing.thresholds, self._clock)

    def _runner(
        self, backends: Mapping[str, Backend], breakers: Mapping[str, Breaker], judge: Judge
    ) -> Runner:
        routing = self._settings.routing
        return Runner(
            backends,
            breakers,
            judge,
            confidence_min=routing.confidence_min,
            accept_unknown=routing.confidence_unknown == "accept",
            hold_tokens=routing.hold_tokens,
            events=self._events,
            clock=self._clock,
        )

    def _background(self, judge: Judge, encoder: Encoder) -> Background:
        learning = self._settings.learning
        shadow = Shadow(learning, self._clock, self._events)
        self._stack.push_async_callback(shadow.close)
        return Background(
            shadow,
            judge,
            _similarity(encoder),
            timeout_s=learning.shadow_timeout_s,
            similarity_min=learning.similarity_min,
            events=self._events,
            clock=self._clock,
        )

    def _patience(self) -> Patience:
        routing = self._settings.routing
        hedge_ms = routing.hedge_after_ms
        return Patience(
            deadline_s=self._settings.execution.deadline_s,
            hedge_after_s=None if hedge_ms is None else hedge_ms / 1000,
            hedge_confidence=routing.hedge_confidence,
        )

    def _app(self, gateway: Gateway) -> App:
        found = self._settings.secrets
        return build_app(
            gateway,
            self._settings.server,
            keys=found.tenants,
            metrics=self._metrics,
            redact=Redactor(found.values),
            clock=self._clock,
            longest_s=self._settings.execution.deadline_s + OVERDUE_S,
        )


def request_of(prompt: str) -> Request:
    """A plain request of one user turn, as a caller would send it."""
    return Request(
        id=f"req-{secrets.token_hex(12)}",
        model=AUTO,
        messages=(Message("user", prompt),),
        body={"model": AUTO, "messages": [{"role": "user", "content": prompt}]},
        received_s=SystemClock().monotonic(),
    )


def _similarity(encoder: Encoder) -> Callable[[str, str], Awaitable[float | None]]:
    """Cosine of two texts' embeddings; None for texts that the encoder cannot read."""

    async def similarity(one: str, other: str) -> float | None:
        if not (one.isascii() and other.isascii()):
            return None  # it takes Chinese for unknown tokens: any two texts would be alike
        a = await encoder.embed(one, SIMILARITY_TIMEOUT_S)
        b = await encoder.embed(other, SIMILARITY_TIMEOUT_S)
        return None if a is None or b is None else float(np.dot(a, b))

    return similarity

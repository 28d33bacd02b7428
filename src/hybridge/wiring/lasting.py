"""What survives every change of the configuration."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from secrets import token_bytes
from typing import Self

from hybridge.budget.allowance import Allowances, Limits
from hybridge.budget.ledger import JUDGE, Ledger
from hybridge.core.clock import Clock, SystemClock
from hybridge.core.events import Events
from hybridge.core.redaction import Redactor
from hybridge.core.request import Request
from hybridge.edge.encoder import Encoder
from hybridge.execution.confidence import Judge
from hybridge.gateway.adapting import MOST, Adapting
from hybridge.learning.evidence import Evidence
from hybridge.privacy.sessions import PrivateSessions
from hybridge.routing.head import Head
from hybridge.routing.session import Sessions
from hybridge.server.session import session_key
from hybridge.settings import Settings
from hybridge.storage.records import Records
from hybridge.telemetry.metrics import Metrics
from hybridge.wiring import local, measures
from hybridge.wiring.detection import Layers
from hybridge.wiring.embedders import EmbedderRows
from hybridge.wiring.following import Following
from hybridge.wiring.meaning import Meaning
from hybridge.wiring.model_library import model_library
from hybridge.wiring.news import News
from hybridge.wiring.scoring import Scoring


class Secrecy:
    """Takes every secret out of a text that was ever in force: old ones may still be in answers."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = frozenset(secrets)
        self._redact = Redactor(self._secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """From now on these are taken out too."""
        self._secrets |= frozenset(secrets)
        self._redact = Redactor(self._secrets)

    def __call__(self, text: str) -> str:
        return self._redact(text)


@dataclass(frozen=True, slots=True)
class Lasting:
    """The parts that every generation shares."""

    clock: Clock
    metrics: Metrics
    events: Events
    books: Ledger
    allowances: Allowances
    sessions: Sessions
    private_sessions: PrivateSessions
    layers: Layers
    encoder: Encoder
    """The scorer's."""
    meaning: Meaning
    head: Head
    """The shipped one."""
    adapting: Adapting
    judge: Judge
    redact: Secrecy
    embedders: EmbedderRows
    following: Following
    cache_secret: bytes
    """Makes the keys of a shared cache where the configuration names no secret for it."""
    news: News | None
    """What tells of the gateway elsewhere; None where nothing is to be told."""

    @classmethod
    async def open(
        cls, settings: Settings, stack: AsyncExitStack, redact: Secrecy, *, record: bool
    ) -> Self:
        """Opens what the stack closes. Raises `ConfigError` where records cannot be kept."""
        clock, metrics, head = SystemClock(), Metrics(), Head.shipped()
        events = Events(metrics.on_event)
        learned: list[Evidence] = []
        if record and settings.records.url is not None:
            key = settings.secrets.audit
            records = await Records.open(
                settings.records.url, key=None if key is None else key.encode(), clock=clock
            )
            stack.push_async_callback(records.close)
            events.subscribe(records.on_event)
            learned = await records.evidence(MOST)
        books = Ledger(settings.budget, tenants(settings), clock)
        own, defaults = limits(settings)
        allowed = metrics.allowed
        allowances = Allowances(own, clock, defaults=defaults, refused=allowed.refused)
        allowed.watch_budget(books.status)
        allowed.watch_keys(allowances.under_way)
        news = News.open(metrics, books, clock, events) if record else None
        if news is not None:
            stack.push_async_callback(news.close)
            news.take(settings)
        encoder = local.encoder(settings)
        stack.callback(encoder.close)
        meaning = Meaning(partial(local.meaning_encoder, settings))
        stack.push_async_callback(meaning.close)
        measures.watch_encoder(metrics, encoder)
        measures.watch_device(metrics)
        following = Following(model_library(settings), settings.models.poll_s)
        if record:
            stack.push_async_callback(_ended, asyncio.create_task(following.run()))
        routing = settings.routing
        adapting = Adapting(Scoring(head, None).terms(settings), clock)
        adapting.learn(reversed(learned))
        events.subscribe(adapting.on_event)
        metrics.learned.watch(lambda: adapting.known)
        stack.push_async_callback(adapting.close)
        return cls(
            clock,
            metrics,
            events,
            books,
            allowances,
            Sessions(routing.session_window, routing.session_ttl_s, clock),
            PrivateSessions(routing.session_ttl_s, clock),
            Layers(),
            encoder,
            meaning,
            head,
            adapting,
            Judge(),
            redact,
            EmbedderRows(events, clock, load=record),
            following,
            token_bytes(32),
            news,
        )

    async def prepare(self, settings: Settings) -> None:
        """Does beforehand what would hold up `take`."""
        if self.news is not None:
            await self.news.prepare(settings)

    def take(self, settings: Settings) -> None:
        """From now on these settings hold."""
        self.books.limit(settings.budget, tenants(settings))
        self.allowances.limit(*limits(settings))
        self.sessions.resize(settings.routing.session_window, settings.routing.session_ttl_s)
        self.private_sessions.ttl_s = settings.routing.session_ttl_s
        if self.news is not None:
            self.news.take(settings)

    def forget(self, backends: Collection[str]) -> None:
        """These are gone, or others have their names."""
        for backend in backends:
            self.metrics.forget(backend)
        if self.news is not None:
            self.news.forget(backends)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def tenants(settings: Settings) -> dict[str, Decimal | None]:
    """Each API key's own limit per day, and the judge's."""
    limits = {row.name: row.daily_usd for row in settings.server.api_keys}
    judge = settings.learning.judge
    return limits if judge is None else {**limits, JUDGE: judge.daily_usd}


def limits(settings: Settings) -> tuple[dict[str, Limits], Limits]:
    """Each API key's own limits, and those of whoever has none."""
    own = {row.name: Limits(row.rpm, row.tpm, row.max_parallel) for row in settings.server.api_keys}
    every = settings.limits
    return own, Limits(every.rpm, every.tpm, every.max_parallel)


def is_named(request: Request) -> bool:
    """Whether the caller named the session; else it was made of the conversation's opening."""
    return request.session != session_key(request.tenant, None, {}, request.messages)

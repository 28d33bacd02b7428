"""A gateway with everything that belongs to it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from msgspec import Struct

from hybridge.budget.ledger import Ledger
from hybridge.cache.exact import ExactCache
from hybridge.core.backend import Backend
from hybridge.core.clock import SystemClock
from hybridge.core.events import IN_FORCE, GatewayEvent, ModelSwitched
from hybridge.core.plan import Score
from hybridge.core.report import Report
from hybridge.core.request import AUTO, Message, Request
from hybridge.edge.reloadable import Reloadable
from hybridge.gateway.adapting import Adapting
from hybridge.gateway.status import ConfigStatus
from hybridge.routing.facts import gather
from hybridge.server.app import App
from hybridge.server.surface import build_app
from hybridge.settings import Settings
from hybridge.settings.changes import changes, settle, version
from hybridge.telemetry.metrics import Metrics
from hybridge.wiring import local
from hybridge.wiring.building import generation
from hybridge.wiring.generation import Generation
from hybridge.wiring.lasting import Lasting, Secrecy
from hybridge.wiring.learned import account, recorded
from hybridge.wiring.local import Prepare
from hybridge.wiring.meaning import vectors
from hybridge.wiring.measures import depths
from hybridge.wiring.row import Around
from hybridge.wiring.rows import Rows, new
from hybridge.wiring.switch import Switch

OVERDUE_S = 5.0
"""How long after its deadline a request is ended that its backend did not end."""


class Explained(Struct, frozen=True):
    """A decision, and the score as the scorer gives it."""

    report: Report
    score: Score


async def _nothing(_model: str) -> None:
    """Models need no preparing."""


class House:
    """What `open_house` built, as long as its block lasts."""

    def __init__(
        self,
        first: Generation,
        lasting: Lasting,
        rows: Rows,
        *,
        path: Path | None,
        load: bool,
    ) -> None:
        self._lasting = lasting
        self._rows = rows
        self._path = path
        self._load = load
        self._taking = asyncio.Lock()
        self.clock = lasting.clock
        """The clock of everything in it."""
        self.wanted = first.settings
        """The settings last taken over, with those of their keys that need a restart."""
        self.gateway = Switch(first, self._account(first.settings))
        self.app = self._app(first.settings)
        """The HTTP surface, ready for any ASGI server."""
        lasting.adapting.follow(first.scoring.terms(first.settings))
        self._begin(first)

    @property
    def engines(self) -> Mapping[str, Reloadable]:
        """The backends that run in this process, by name."""
        rows = self.gateway.current.rows
        return {name: row.engine for name, row in rows.items() if row.engine is not None}

    @property
    def remote(self) -> Mapping[str, Backend]:
        """The backends behind HTTP, by name."""
        rows = self.gateway.current.rows
        return {name: row.bare for name, row in rows.items() if row.engine is None}

    @property
    def metrics(self) -> Metrics:
        """What is measured in it."""
        return self._lasting.metrics

    @property
    def ledger(self) -> Ledger:
        """Money spent and promised."""
        return self._lasting.books

    async def loaded(self) -> None:
        """Returns when all local models are there. Raises `ModelError` for one that is not."""
        await self.gateway.current.loaded()

    @property
    def adapting(self) -> Adapting:
        """What was learned of pairs of models."""
        return self._lasting.adapting

    @property
    def learned(self) -> tuple[str, ...]:
        """What speaks for each pair of models, and what the edge is good at, in words."""
        known = self._lasting.adapting.known
        own = self.gateway.current.scoring.own
        return (*(() if own is None else (f"from a file: {own.said()}",)), *map(account, known))

    async def explain_many(self, requests: Sequence[Request]) -> list[Explained]:
        """What would be done with each, and its score, also where a rule would settle it.

        Every text is encoded once and without haste: no deadline makes the text head speak alone.
        """
        current = self.gateway.current
        facts = [gather(request) for request in requests]
        texts, pair = [one.text for one in facts if one.text], current.gateway.likely_pair()
        threads = local.thread_shares(current.settings).scorer
        known = await asyncio.to_thread(vectors, self._lasting.encoder, texts, threads=threads)
        scores = [current.scorer.score_read(one, pair, known.get(one.text)) for one in facts]
        return [
            Explained(await current.gateway.explain(request, score), score)
            for request, score in zip(requests, scores, strict=True)
        ]

    async def take(self, wanted: Settings) -> tuple[str, ...]:
        """Serves by other settings from now on, and tells what changed.

        Everything new is built and loaded first. Raises `ConfigError` and `ModelError`, and then
        nothing has changed.
        """
        async with self._taking:
            before = self.gateway.current
            settings, waiting = settle(before.settings, wanted)
            self._lasting.redact.learn(settings.secrets.values)
            after = await generation(settings, self._rows, self._lasting, before)
            try:
                self._begin(after, before)
                await after.loaded(but=before.rows)
                await self._lasting.prepare(settings)
            except BaseException:
                await after.discard(before)
                raise
            self._swap(after)
            self.gateway.config = self._account(wanted, waiting)
            was, self.wanted = self.wanted, wanted
            return changes(was, wanted)

    def on_event(self, event: GatewayEvent) -> None:
        """No answer of weights that were exchanged is given again."""
        if isinstance(event, ModelSwitched) and event.outcome in IN_FORCE:
            answers = self.gateway.current.answers
            if isinstance(answers, ExactCache):
                answers.forget(event.backend)

    def _swap(self, after: Generation) -> None:
        """One step: nothing in it awaits, and nothing in it can fail."""
        settings = after.settings
        gone = after.replaced(self.gateway.current)
        for part in gone.values():
            part.retire()
        self._lasting.forget(gone.keys())
        self._lasting.take(settings)
        for row in after.rows.values():
            row.take(settings.execution)
        self.app.reconfigure(settings.server, settings.secrets.tenants)
        self._lasting.adapting.follow(after.scoring.terms(settings))
        self.gateway.to(after)

    def _begin(self, after: Generation, before: Generation | None = None) -> None:
        """New backends load and are watched; those that could not be loaded try it again."""
        if not self._load:
            return
        kept = {} if before is None else before.rows
        fresh = list(new(after.rows, kept))
        for row in after.rows.values():
            if row in fresh or row.failure is not None:
                row.begin()

    def _account(self, wanted: Settings, waiting: tuple[str, ...] = ()) -> ConfigStatus:
        path = None if self._path is None else str(self._path)
        now = self._lasting.clock.now()
        return ConfigStatus(version(wanted), now, path, restart_needed=waiting)

    def _app(self, settings: Settings) -> App:
        lasting = self._lasting
        app = build_app(
            self.gateway,
            settings.server,
            keys=settings.secrets.tenants,
            metrics=lasting.metrics,
            redact=lasting.redact,
            clock=lasting.clock,
            longest_s=settings.execution.deadline_s + OVERDUE_S,
        )
        lasting.metrics.watch_in_flight(lambda: len(app.drain))
        lasting.metrics.inference.watch_queues(lambda: depths(lasting.encoder, self.engines))
        return app


@asynccontextmanager
async def open_house(
    settings: Settings,
    *,
    load: bool = True,
    learned: bool = True,
    around: Around = lambda backend: backend,
    path: Path | None = None,
    redact: Secrecy | None = None,
    prepare: Prepare = _nothing,
) -> AsyncIterator[House]:
    """Builds a gateway, and takes everything down again at the end.

    It serves at once; local models load meanwhile, and `House.loaded` waits for them. With
    `load=False` none is loaded, nothing is probed and nothing recorded: good for explaining, not
    for serving; what the records hold is learned first, unless `learned` is False. `path` is where
    the settings came from. Raises `ConfigError`.
    """
    redact = redact or Secrecy()
    redact.learn(settings.secrets.values)
    async with AsyncExitStack() as stack:
        lasting = await Lasting.open(settings, stack, redact, record=load)
        rows = Rows(lasting.events, lasting.clock, around, prepare, lasting.following)
        first = await generation(settings, rows, lasting, None)
        house = House(first, lasting, rows, path=path, load=load)
        lasting.events.subscribe(house.on_event)
        stack.push_async_callback(house.gateway.close)
        if load:
            house.adapting.start()
        elif learned and settings.records.url is not None:
            house.adapting.learn(await recorded(settings.records.url))
            await house.adapting.settle()
        await asyncio.sleep(0)  # loading has begun when the first request comes
        yield house


def request_of(prompt: str) -> Request:
    """A plain request of one user turn, as a caller would send it."""
    return Request(
        id=f"req-{secrets.token_hex(12)}",
        model=AUTO,
        messages=(Message("user", prompt),),
        body={"model": AUTO, "messages": [{"role": "user", "content": prompt}]},
        received_s=SystemClock().monotonic(),
    )

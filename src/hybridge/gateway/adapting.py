"""The online adapter: learns from comparisons, off the event loop, and delays no request."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.clock import Clock
from hybridge.core.events import Compared, GatewayEvent
from hybridge.learning.evidence import Evidence, Pair
from hybridge.routing.adaptation import Adaptation, adapt

MOST = 2000
"""Comparisons of a pair that are looked at, the newest."""
_SHARE = 10
"""A pair is learned anew when a tenth of what was known has come on top."""
_log = logging.getLogger("hybridge.adapter")


class Terms(Struct, frozen=True):
    """What learning goes by, as configured."""

    head: str
    """Version of the head that speaks."""
    half_life: timedelta
    views: bool = True
    """Whether views are used; else only the accuracy of tasks is learned."""
    before: Adaptation | None = None
    """The adapter from a file, if one is configured."""

    def same(self, other: Terms) -> bool:
        """Whether the same evidence would teach the same."""
        mine, others = (terms.before and terms.before.version for terms in (self, other))
        return mine == others and (self.head, self.half_life, self.views) == (
            other.head,
            other.half_life,
            other.views,
        )


class Adapting:
    """Keeps the newest evidence about each pair, and what was made of it last."""

    def __init__(self, terms: Terms, clock: Clock) -> None:
        self._terms = terms
        self._clock = clock
        self._evidence: dict[Pair, deque[Evidence]] = {}
        self._fresh: dict[Pair, int] = {}
        """How much came on top since a pair was last learned."""
        self._known: dict[Pair, Adaptation] = {}
        self._due = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    @property
    def known(self) -> Sequence[Adaptation]:
        """What is known of each pair."""
        return tuple(self._known.values())

    def of(self, pair: Pair | None) -> Adaptation | None:
        """What is known of a pair, else what holds for any.

        A model that is not loaded has no version yet: then the latest one of its name is meant, and
        where no pair is named, the only one there is.
        """
        if pair is None:
            found = next(iter(self._known.values())) if len(self._known) == 1 else None
        elif pair.version:
            found = self._known.get(pair)
        else:
            found = self._latest(pair)
        return found or self._terms.before

    def on_event(self, event: GatewayEvent) -> None:
        """Takes a comparison in; never waits."""
        if isinstance(event, Compared):
            self.learn([_evidence(event)])

    def learn(self, found: Iterable[Evidence]) -> None:
        """Takes evidence in, oldest first."""
        for one in found:
            self._evidence.setdefault(one.pair, deque(maxlen=MOST)).append(one)
            self._fresh[one.pair] = self._fresh.get(one.pair, 0) + 1
        if self._worker is not None and self._next() is not None:
            self._due.set()

    def follow(self, terms: Terms) -> None:
        """From now on learning goes by these; what was learned by others is learned anew."""
        if terms.same(self._terms):
            return
        self._terms = terms
        self._known.clear()
        self._fresh = {pair: len(found) for pair, found in self._evidence.items()}
        self._due.set()

    def start(self) -> None:
        """Begins to learn whenever there is something to learn."""
        self._due.set()
        self._worker = asyncio.create_task(self._work(), name="adapter")

    async def close(self) -> None:
        """Stops; what is being computed is thrown away."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    async def settle(self) -> None:
        """Learns what there is to learn now, pair by pair, each in a thread."""
        while (pair := self._next()) is not None:
            terms, found = self._terms, tuple(self._evidence[pair])
            self._fresh[pair] = 0
            made = await asyncio.to_thread(_learned, pair, found, terms, self._clock)
            if terms is self._terms:
                self._tell(made)
                self._known.pop(pair, None)  # what was learned last stands last
                self._known[pair] = made

    async def _work(self) -> None:
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                await self.settle()
            except Exception:  # the prior speaks on; the next comparison tries again
                _log.exception("learning failed")

    def _next(self) -> Pair | None:
        """A pair that enough has come on top of."""
        for pair, fresh in self._fresh.items():
            if fresh and fresh * _SHARE >= len(self._evidence[pair]) - fresh:
                return pair
        return None

    def _latest(self, pair: Pair) -> Adaptation | None:
        of_name = [p for p in self._known if (p.edge, p.cloud) == (pair.edge, pair.cloud)]
        latest = max(of_name, key=lambda p: self._evidence[p][-1].at, default=None)
        return None if latest is None else self._known[latest]

    def _tell(self, made: Adaptation) -> None:
        """Once, when another one speaks."""
        before = self._known.get(made.pair) if made.pair is not None else None
        if (made.adapter is not None) != (before is not None and before.adapter is not None):
            pair = made.pair
            _log.info("%s and %s: adapter %s", pair and pair.edge, pair and pair.cloud, made.said())


def _learned(pair: Pair, found: Sequence[Evidence], terms: Terms, clock: Clock) -> Adaptation:
    if not terms.views:
        found = [replace(one, view=None) for one in found]
    return adapt(
        pair,
        found,
        clock.now(),
        head=terms.head,
        half_life=terms.half_life,
        before=terms.before,
    )


def _evidence(event: Compared) -> Evidence:
    return Evidence(
        pair=Pair(event.edge_backend, event.edge_version, event.cloud_backend),
        at=event.at,
        task=event.task,
        failed=0.0 if event.agreed else 1.0,
        propensity=event.propensity,
        p=None if event.score is None else event.score.p,
        view=event.view,
        head=event.head_version,
        request_id=event.request_id,
    )

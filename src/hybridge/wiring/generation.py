"""One gateway with its backends, as long as it serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hybridge.cache.exact import ExactCache
from hybridge.cache.shared import SharedCache
from hybridge.execution.latency import Latencies
from hybridge.gateway.embedding import EmbeddingGateway
from hybridge.gateway.gateway import Gateway
from hybridge.gateway.planner import Planner
from hybridge.gateway.visit import Visits
from hybridge.learning.shadow import Shadow
from hybridge.routing.scorer import HeadScorer
from hybridge.settings import Settings
from hybridge.storage.redis_store import RedisStore
from hybridge.wiring.embedders import EmbedderRow
from hybridge.wiring.row import Row
from hybridge.wiring.rows import new
from hybridge.wiring.scoring import Scoring


@dataclass(eq=False, slots=True)
class Generation:
    """A gateway with its backends, and how many requests are on it."""

    settings: Settings
    rows: Mapping[str, Row]
    embedders: Mapping[str, EmbedderRow]
    gateway: Gateway
    embedding: EmbeddingGateway
    planner: Planner
    shadow: Shadow
    answers: ExactCache | SharedCache | None
    store: RedisStore | None
    """Where `answers` lie, where that is outside of this process."""
    latencies: Latencies
    visits: Visits
    """The requests that are on it."""
    scoring: Scoring
    scorer: HeadScorer

    async def loaded(self, but: Mapping[str, Row] | None = None) -> None:
        """Returns when the models of its backends, except these, are there. Raises `ModelError`."""
        for row in new(self.rows, but or {}):
            await row.loaded()

    @property
    def parts(self) -> frozenset[Row | EmbedderRow | RedisStore]:
        """Everything in it that may be shared with other generations, and is closed in the end."""
        stores = () if self.store is None else (self.store,)
        return frozenset((*self.rows.values(), *self.embedders.values(), *stores))

    def replaced(self, before: Generation) -> dict[str, Row | EmbedderRow]:
        """By name, those before it that are not in it any more."""
        parts = self.parts
        return {
            name: part
            for rows in (before.rows, before.embedders)
            for name, part in rows.items()
            if part not in parts
        }

    async def discard(self, before: Generation) -> None:
        """Closes what it does not share; for one that never served."""
        for part in self.parts - before.parts:
            await part.close()

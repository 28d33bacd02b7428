"""One gateway, built from one configuration, out of what lasts and what is its own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from contextlib import AsyncExitStack

from hybridge.budget.unpriced import check_prices
from hybridge.cache.answers import Answers
from hybridge.cache.exact import ExactCache
from hybridge.cache.semantic import SemanticCache
from hybridge.cache.shared import SharedCache
from hybridge.core.backend import Backend
from hybridge.execution.breaker import Breaker
from hybridge.execution.latency import Latencies
from hybridge.execution.runner import Runner
from hybridge.gateway.background import Background
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.gateway import Gateway, Patience
from hybridge.gateway.planner import Planner
from hybridge.gateway.recall import Recall
from hybridge.gateway.settle import Settlement
from hybridge.gateway.visit import Visits
from hybridge.learning.shadow import Shadow
from hybridge.privacy.examine import Detect
from hybridge.privacy.guard import Guard
from hybridge.privacy.layers import AT_ONCE
from hybridge.privacy.policy import Policy
from hybridge.privacy.pseudonyms.disguise import Pseudonyms
from hybridge.privacy.scan import PIECE, detect
from hybridge.routing.rules import Rules
from hybridge.routing.scorer import HeadScorer
from hybridge.settings import Settings
from hybridge.storage.redis_store import RedisStore
from hybridge.wiring.embedders import EmbedderRow, embedding_gateway
from hybridge.wiring.generation import Generation
from hybridge.wiring.judging import cloud_judge
from hybridge.wiring.lasting import Lasting, is_named
from hybridge.wiring.meaning import views
from hybridge.wiring.row import Row
from hybridge.wiring.rows import Condition, Rows, new
from hybridge.wiring.scoring import Scoring
from hybridge.wiring.second_opinions import second_opinions
from hybridge.wiring.sharing import shared_answers, shared_store


async def generation(
    settings: Settings, rows: Rows, lasting: Lasting, before: Generation | None
) -> Generation:
    """A gateway by these settings; `before` hands over what is still right.

    Raises `ConfigError` for rules, addresses or prices that cannot be used, and leaves nothing
    open.
    """
    kept = {} if before is None else before.rows
    old = {} if before is None else before.embedders
    async with AsyncExitStack() as undo:
        made = await rows.make(settings, kept)
        for row in new(made, kept):
            undo.push_async_callback(row.close)
        embedders = await lasting.embedders.make(
            settings.embeddings, settings.secrets, settings.execution, old
        )
        for name, embedder in embedders.items():
            if old.get(name) is not embedder:
                undo.push_async_callback(embedder.close)
        look = await lasting.layers.of(settings)
        scoring = await asyncio.to_thread(Scoring.of, settings, lasting.head)
        store = shared_store(settings, lasting, before)
        if store is not None and (before is None or before.store is not store):
            undo.push_async_callback(store.close)
        if settings.cache is not None and settings.cache.semantic is not None:
            await lasting.meaning.ready()
        built = _Builder(settings, made, embedders, lasting, before, store, look, scoring).build()
        undo.pop_all()
        return built


class _Builder:
    """Builds the parts in the order in which they need each other."""

    def __init__(
        self,
        settings: Settings,
        rows: Mapping[str, Row],
        embedders: Mapping[str, EmbedderRow],
        lasting: Lasting,
        before: Generation | None,
        store: RedisStore | None,
        detect: Detect,
        scoring: Scoring,
    ) -> None:
        self._scoring = scoring
        self._scorer = HeadScorer(
            scoring.head,
            lasting.encoder,
            timeout_s=settings.routing.score_timeout_ms / 1000,
            adapted=lasting.adapting.of,
        )
        self._detect = detect
        self._settings = settings
        self._store = store
        self._rows = rows
        self._embedders = embedders
        self._lasting = lasting
        self._before = before
        self._backends: dict[str, Backend] = {name: row.backend for name, row in rows.items()}
        self._breakers: dict[str, Breaker] = {name: row.breaker for name, row in rows.items()}

    def build(self) -> Generation:
        lasting, settings = self._lasting, self._settings
        self._check_prices()
        condition, latencies = Condition(self._rows), self._latencies()
        fleet = Fleet(self._backends, self._breakers, condition, latencies, condition.is_loading)
        planner, shadow, answers = self._planner(), self._shadow(), self._answers()
        guard, visits = self._guard(), Visits()
        recall = None
        if answers is not None:
            recall = Recall(
                answers,
                fleet,
                settings.routing.thresholds,
                lasting.clock,
                semantic=self._semantic(answers),
            )
        gateway = Gateway(
            fleet,
            guard,
            lasting.books,
            recall,
            planner,
            self._runner(condition),
            self._background(shadow, guard),
            Settlement(planner.sessions, latencies, recall, lasting.events, lasting.clock),
            self._patience(),
            lasting.clock,
            allowances=lasting.allowances,
            visits=visits,
        )
        embedding = embedding_gateway(
            settings.embeddings,
            self._embedders,
            guard,
            lasting.books,
            deadline_s=settings.execution.deadline_s,
            events=lasting.events,
            clock=lasting.clock,
            allowances=lasting.allowances,
            visits=visits,
        )
        return Generation(
            settings,
            self._rows,
            self._embedders,
            gateway,
            embedding,
            planner,
            shadow,
            answers,
            self._store,
            latencies,
            visits,
            self._scoring,
            self._scorer,
        )

    def _guard(self) -> Guard:
        privacy, keys = self._settings.privacy, self._settings.server.api_keys
        return Guard(
            Policy.of(privacy),
            {key.name: Policy.of(privacy, key.privacy) for key in keys if key.privacy is not None},
            detect=self._detect,
            at_once=PIECE if self._detect is detect else AT_ONCE,
            pseudonymise=Pseudonyms(),
            sessions=self._lasting.private_sessions if privacy.private_sessions else None,
            is_named=is_named,
        )

    def _check_prices(self) -> None:
        """Tells of each cloud without a price once: when it comes, or when the policy changes."""
        settings, before = self._settings, self._before
        if not self._lasting.books.limited:
            return
        same = before is not None and before.settings.budget == settings.budget
        kept = before.rows if before is not None and same else {}
        check_prices((row.backend.spec for row in new(self._rows, kept)), settings.budget)

    def _latencies(self) -> Latencies:
        """Those of backends that are still the same."""
        latencies, before = Latencies(), self._before
        if before is None:
            return latencies
        for name, row in self._rows.items():
            known = before.latencies.of(name)
            if known is not None and before.rows.get(name) is row:
                latencies.note(name, known)
        return latencies

    def _planner(self) -> Planner:
        routing = self._settings.routing
        return Planner(
            Rules.load(routing.rules),
            self._scorer,
            self._lasting.sessions,
            routing.thresholds,
            fallbacks=routing.fallbacks,
            shadow_rate=self._settings.learning.shadow_rate,
            draw=random.random,
        )

    def _answers(self) -> ExactCache | SharedCache | None:
        """What was answered before, as far as those who answered are still there."""
        config, before = self._settings.cache, self._before
        if config is None or config.ttl_s == 0:
            return None
        if self._store is not None:
            return shared_answers(self._settings, config, self._store, self._lasting, self._rows)
        if before is None or not isinstance(before.answers, ExactCache):
            return ExactCache(config, self._lasting.clock, is_named)
        if before.settings.cache == config and before.rows == self._rows:
            return before.answers
        gone = [name for name, row in before.rows.items() if self._rows.get(name) is not row]
        return before.answers.handed_on(config, gone, self._lasting.clock)

    def _semantic(self, answers: Answers) -> SemanticCache | None:
        config = self._settings.cache
        if config is None or config.semantic is None:
            return None
        return SemanticCache(answers, config, self._lasting.meaning.similarity)

    def _runner(self, condition: Condition) -> Runner:
        routing = self._settings.routing
        return Runner(
            self._backends,
            self._breakers,
            self._lasting.judge,
            confidence_min=routing.confidence_min,
            accept_unknown=routing.confidence_unknown == "accept",
            hold_tokens=routing.hold_tokens,
            events=self._lasting.events,
            clock=self._lasting.clock,
            second_opinions=second_opinions(
                routing.second_opinion,
                self._rows,
                self._lasting,
                self._lasting.meaning.similarity,
                self._settings.learning.similarity_min,
                condition.unavailable,
            ),
        )

    def _shadow(self) -> Shadow:
        learning, before = self._settings.learning, self._before
        if before is not None and before.settings.learning == learning:
            return before.shadow
        return Shadow(learning, self._lasting.clock, self._lasting.events)

    def _background(self, shadow: Shadow, guard: Guard) -> Background:
        learning = self._settings.learning
        return Background(
            shadow,
            self._lasting.judge,
            self._lasting.meaning.similarity,
            timeout_s=learning.shadow_timeout_s,
            similarity_min=learning.similarity_min,
            events=self._lasting.events,
            clock=self._lasting.clock,
            cloud_judge=cloud_judge(learning, self._rows, guard, self._lasting),
            view=views(self._scorer) if learning.keep_views else None,
            head_version=self._scoring.head.version,
        )

    def _patience(self) -> Patience:
        routing = self._settings.routing
        hedge_ms = routing.hedge_after_ms
        return Patience(
            deadline_s=self._settings.execution.deadline_s,
            hedge_after_s=None if hedge_ms is None else hedge_ms / 1000,
            hedge_confidence=routing.hedge_confidence,
        )

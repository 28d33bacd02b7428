"""A gateway of scripted backends, wired as the real one is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from hybridge.budget.allowance import Allowances, Limits
from hybridge.budget.config import BudgetConfig
from hybridge.budget.ledger import Ledger
from hybridge.cache.config import CacheConfig
from hybridge.cache.exact import ExactCache
from hybridge.cache.semantic import SemanticCache
from hybridge.core.backend import Price
from hybridge.core.clock import Clock, SystemClock
from hybridge.core.events import Events, GatewayEvent
from hybridge.core.plan import Score
from hybridge.core.request import Feature, Message, Request, Tier
from hybridge.execution.breaker import Breaker
from hybridge.execution.confidence import Judge
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.egress import Guarded
from hybridge.execution.health import Health
from hybridge.execution.latency import Latencies
from hybridge.execution.opinion import Terms
from hybridge.execution.runner import Runner
from hybridge.execution.second_opinion import SecondOpinions
from hybridge.gateway.background import Background
from hybridge.gateway.fleet import Fleet
from hybridge.gateway.gateway import Gateway, Patience
from hybridge.gateway.planner import Planner
from hybridge.gateway.recall import Recall
from hybridge.gateway.settle import Settlement
from hybridge.learning.config import LearningConfig
from hybridge.learning.evidence import Pair
from hybridge.learning.shadow import Shadow
from hybridge.privacy.config import PrivacyConfig
from hybridge.privacy.guard import Guard, Pseudonymise
from hybridge.privacy.policy import Policy
from hybridge.privacy.pseudonyms.disguise import Pseudonyms
from hybridge.routing.config import RoutingConfig
from hybridge.routing.facts import Facts
from hybridge.routing.rules import Rules
from hybridge.routing.session import Sessions
from hybridge.testing.backend import Script, ScriptedBackend, spec

CLOCK = SystemClock()
PRICE = Price(Decimal(2), Decimal(8))


class FixedScorer:
    """Always the same score; `broken` raises instead."""

    def __init__(self, p: float, *, broken: bool = False) -> None:
        self._p = p
        self._broken = broken

    async def score(self, facts: Facts, pair: Pair | None = None) -> Score:
        if self._broken:
            raise RuntimeError("told to break")
        return Score(self._p, "prior", "fixed")


@dataclass
class Scene:
    """A gateway, its two backends and everything that was told to those who watch."""

    gateway: Gateway
    ledger: Ledger
    allowances: Allowances
    edge: ScriptedBackend
    cloud: ScriptedBackend
    told: list[GatewayEvent] = field(default_factory=list)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.told if isinstance(event, kind)]


Stage = Callable[..., AbstractAsyncContextManager[Scene]]


@pytest.fixture
def stage() -> Stage:
    @asynccontextmanager
    async def staged(
        edge: Script,
        cloud: Script,
        *,
        p: float = 0.0,
        broken_scorer: bool = False,
        routing: dict[str, Any] | None = None,
        daily_usd: Decimal | None = Decimal(100),
        budget: dict[str, Any] | None = None,
        price: Price | None = PRICE,
        cache: bool | dict[str, Any] = False,
        privacy: dict[str, Any] | None = None,
        pseudonymise: Pseudonymise | None = None,
        patience: Patience | None = None,
        limits: dict[str, Limits] | None = None,
        fallbacks: dict[str, list[str]] | None = None,
        second: Terms | None = None,
        again: Script | None = None,
        clock: Clock = CLOCK,
    ) -> AsyncIterator[Scene]:
        tools = frozenset({Feature.TOOLS})
        able = tools | {Feature.CHOICES}
        far = replace(spec("cloud", Tier.CLOUD, features=able), model="large", price=price)
        backends = {
            "edge": ScriptedBackend(
                spec("edge", features=tools), edge, *(() if again is None else (again,))
            ),
            "cloud": ScriptedBackend(far, cloud),
        }
        told: list[GatewayEvent] = []
        events = Events(told.append)
        config = RoutingConfig.model_validate(routing or {})
        guarded = {name: Guarded(backend) for name, backend in backends.items()}
        breakers = {
            name: Breaker(name, b.spec.tier, ExecutionConfig(), CLOCK, events)
            for name, b in backends.items()
        }
        health = Health(guarded, breakers, interval_s=60, events=events, jitter=lambda: 0.5)
        latencies, judge = Latencies(), Judge()
        fleet = Fleet(guarded, breakers, health, latencies)
        planner = Planner(
            Rules.load(None),
            FixedScorer(p, broken=broken_scorer),
            Sessions(config.session_window, config.session_ttl_s, CLOCK),
            config.thresholds,
            fallbacks=fallbacks or {},
            shadow_rate=0.0,
            draw=lambda: 1.0,
        )

        async def no_similarity(_one: str, _other: str) -> None:
            return None

        second_opinions = second and SecondOpinions(
            guarded,
            breakers,
            judge,
            second,
            refusal=health.refusal,
            similarity=no_similarity,
            events=events,
            clock=CLOCK,
        )
        runner = Runner(
            guarded,
            breakers,
            judge,
            confidence_min=config.confidence_min,
            accept_unknown=config.confidence_unknown == "accept",
            hold_tokens=config.hold_tokens,
            events=events,
            clock=CLOCK,
            second_opinions=second_opinions,
        )
        shadow = Shadow(LearningConfig(), CLOCK, events)
        background = Background(
            shadow,
            judge,
            no_similarity,
            timeout_s=5,
            similarity_min=0.85,
            events=events,
            clock=CLOCK,
        )
        recall = None
        if cache is not False:
            kept = CacheConfig.model_validate({} if cache is True else cache)
            exact = ExactCache(kept, CLOCK)
            semantic = SemanticCache(exact, kept) if kept.semantic else None
            recall = Recall(exact, fleet, config.thresholds, CLOCK, semantic=semantic)
        money = BudgetConfig.model_validate({"daily_usd": daily_usd} | (budget or {}))
        ledger, allowances = Ledger(money, {}, clock), Allowances(limits or {}, clock)
        gateway = Gateway(
            fleet,
            Guard(
                Policy.of(PrivacyConfig.model_validate(privacy or {})),
                pseudonymise=pseudonymise or Pseudonyms(Random(1)),
            ),
            ledger,
            recall,
            planner,
            runner,
            background,
            Settlement(planner.sessions, latencies, recall, events, CLOCK),
            patience or Patience(deadline_s=10),
            CLOCK,
            allowances=allowances,
        )
        yield Scene(gateway, ledger, allowances, backends["edge"], backends["cloud"], told)
        await shadow.close()

    return staged


@pytest.fixture
def ask() -> Callable[..., Request]:
    def asked(prompt: str = "What causes the seasons on Earth?", **more: Any) -> Request:
        model, turns = more.get("model", "auto"), more.pop("turns", ())
        turns = [*turns, ("user", prompt)]
        body = {"model": model, "messages": [{"role": r, "content": text} for r, text in turns]}
        body |= ({"stream": True} if more.get("stream") else {}) | more.pop("extra", {})
        fields = {"model": "auto", "body": body} | more
        messages = tuple(Message(role, text) for role, text in turns)
        return Request(id="r", messages=messages, received_s=CLOCK.monotonic(), **fields)

    return asked

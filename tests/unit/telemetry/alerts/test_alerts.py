"""From the gateway's events to what webhooks are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal

import pytest
from msgspec.structs import replace

from hybridge.core.events import (
    BreakerMoved,
    Compared,
    HealthMoved,
    ModelLoaded,
    Served,
)
from hybridge.core.plan import Route
from hybridge.core.request import Tier
from hybridge.telemetry.alerts.alerts import Alerts
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.alerts.webhook import Receiver, Webhook
from hybridge.telemetry.outbound import Answer
from hybridge.testing.clock import ManualClock

pytestmark = pytest.mark.anyio
OPS = Receiver("ops", "http://ops.example/hook", "json", "home")
CHAT = Receiver("chat", "http://chat.example/hook", "slack", "home")
DAY_S = 86_400.0


class Scene:
    """Alerts whose receivers take everything at once."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.spent = Decimal(0)
        self.posted: list[tuple[str, dict]] = []
        self.alerts = Alerts(
            lambda receiver: Webhook(receiver, self._post, self.clock, lambda *_: None),
            lambda: self.spent,
            self.clock,
        )

    async def _post(
        self, url: str, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> Answer:
        self.posted.append((url, json.loads(body)))
        return Answer(200)

    def take(self, *receivers: Receiver, budget: Decimal | None = None, **config) -> None:
        self.alerts.take(AlertsConfig(**config), receivers, budget)

    def hear(self, *events) -> None:
        for event in events:
            self.alerts.on_event(event)

    async def told(self, receiver: Receiver = OPS) -> list[tuple[str, str, str]]:
        """What a receiver was told since it was last asked."""
        for _ in range(50):
            await asyncio.sleep(0)
        told = [said for url, said in self.posted if url == receiver.url]
        self.posted = [(url, said) for url, said in self.posted if url != receiver.url]
        return [(said["alert"], said["state"], said["subject"]) for said in told]


@asynccontextmanager
async def scene(*receivers: Receiver, **config) -> AsyncIterator[Scene]:
    s = Scene()
    s.take(*receivers, **config)
    try:
        yield s
    finally:
        await s.alerts.close()


def served(clock: ManualClock, latency_ms: float, **more) -> Served:
    plain = Served(
        request_id="r", at=clock.now(), tenant="t", session=None, plan=None, route=Route.DIRECT,
        tier=Tier.CLOUD, backend="gpt", model="gpt", confidence=None, degraded=False, stream=False,
        overhead_ms=1.0, first_event_ms=None, latency_ms=latency_ms, usage=None, cost_usd=None,
        saved_usd=None,
    )  # fmt: skip
    return replace(plain, **more)


def compared(clock: ManualClock, agreed: bool) -> Compared:
    return Compared(
        request_id="r", at=clock.now(), task="qa", score=None, propensity=1.0, edge_backend="e",
        cloud_backend="c", edge_version="", scorer_version="", edge_digest="", cloud_digest="",
        similarity=None, agreed=agreed, method="exact", edge_confidence=None, edge_ms=1.0,
        cloud_ms=1.0,
    )  # fmt: skip


def health(available: bool, backend: str = "local") -> HealthMoved:
    return HealthMoved(backend, available=available, reason="what it said", tier=Tier.EDGE)


async def test_a_backend_that_goes_and_comes_is_told_of_twice():
    async with scene(OPS) as s:
        s.hear(health(False), health(False))
        assert await s.told() == [("backend_unavailable", "firing", "local")]
        s.hear(health(True), health(True))
        assert await s.told() == [("backend_unavailable", "resolved", "local")]


async def test_a_model_that_loads_in_the_end_is_available():
    async with scene(OPS) as s:
        s.hear(health(False), ModelLoaded("local", 1.0))
        assert [state for _, state, _ in await s.told()] == ["firing", "resolved"]


async def test_a_breaker_is_over_when_it_is_closed():
    async with scene(OPS) as s:
        for old, new in (("closed", "open"), ("open", "half_open"), ("half_open", "open")):
            s.hear(BreakerMoved("gpt", old, new, ""))
        assert await s.told() == [("breaker_open", "firing", "gpt")]
        s.hear(BreakerMoved("gpt", "half_open", "closed", ""))
        assert await s.told() == [("breaker_open", "resolved", "gpt")]


async def test_the_days_money_is_told_of_until_the_day_is_over():
    async with scene(OPS, budget=Decimal(100)) as s:
        s.spent = Decimal(94)
        s.alerts.look()
        assert await s.told() == []
        s.spent = Decimal(96)
        s.alerts.look()
        s.alerts.look()
        assert await s.told() == [("cloud_cost", "firing", "cloud")]
        s.spent = Decimal(0)
        s.alerts.look()
        assert await s.told() == [("cloud_cost", "resolved", "cloud")]


async def test_latency_above_its_own_baseline():
    async with scene(OPS) as s:
        for latency_ms in (100, 200):
            for _ in range(40):
                s.clock.advance(8)
                s.hear(served(s.clock, latency_ms), served(s.clock, 5, tier=Tier.EDGE))
                s.alerts.look()
        assert await s.told() == [("latency", "firing", "cloud")]
        s.clock.advance(DAY_S)
        s.alerts.look()
        assert await s.told() == [("latency", "resolved", "cloud")]


@pytest.mark.parametrize(
    "other",
    [{"operation": "embeddings"}, {"error": "NotServed"}, {"route": Route.CACHE}, {"tier": None}],
)
async def test_latency_is_that_of_answers_of_models(other):
    async with scene(OPS) as s:
        for more in ({}, other):
            for _ in range(40):
                s.clock.advance(8)
                s.hear(served(s.clock, 900 if more else 100, **more))
                s.alerts.look()
        assert await s.told() == []


async def test_agreement_that_falls():
    async with scene(OPS) as s:
        for _ in range(60):
            s.hear(compared(s.clock, agreed=True))
        s.clock.advance(DAY_S / 2)
        for number in range(60):
            s.hear(compared(s.clock, agreed=number % 4 > 0))
        s.alerts.look()
        assert await s.told() == [("agreement", "firing", "shadow")]


async def test_what_comes_back_too_soon_is_told_when_its_time_comes():
    async with scene(OPS, repeat_s=60) as s:
        s.hear(health(False), health(True), health(False))
        assert [state for _, state, _ in await s.told()] == ["firing", "resolved"]
        s.alerts.look()
        assert await s.told() == []
        s.clock.advance(60)
        s.alerts.look()
        assert await s.told() == [("backend_unavailable", "firing", "local")]


async def test_a_webhook_that_is_added_hears_what_is_wrong():
    async with scene() as s:
        s.hear(health(False))
        s.take(OPS)
        assert await s.told() == [("backend_unavailable", "firing", "local")]
        s.take(OPS, CHAT)
        assert await s.told() == []
        s.take(CHAT)
        s.hear(health(True))
        assert await s.told() == []
        assert [url for url, _ in s.posted] == [CHAT.url, CHAT.url]


async def test_what_was_wrong_with_a_backend_that_is_gone_is_over():
    async with scene(OPS, budget=Decimal(1)) as s:
        s.spent = Decimal(1)
        s.alerts.look()
        s.hear(health(False), health(False, "other"), BreakerMoved("local", "closed", "open", ""))
        await s.told()
        s.alerts.forget({"local", "cloud"})
        assert await s.told() == [
            ("backend_unavailable", "resolved", "local"),
            ("breaker_open", "resolved", "local"),
        ]

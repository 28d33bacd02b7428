"""Watches the gateway's events, and tells every webhook what is wrong and what is over (R81)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal

from hybridge.core.clock import Clock
from hybridge.core.events import (
    BreakerMoved,
    Compared,
    GatewayEvent,
    HealthMoved,
    ModelLoaded,
    Served,
)
from hybridge.telemetry.alerts import rules
from hybridge.telemetry.alerts.alert import Alert, Finding, Name
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.alerts.episodes import Episodes
from hybridge.telemetry.alerts.webhook import Receiver, Webhook

LOOK_S = 5.0
"""How often sums are looked at; what happens to a backend is told at once."""
_OF_BACKENDS = (Name.BACKEND_UNAVAILABLE, Name.BREAKER_OPEN)
_log = logging.getLogger("hybridge.alerts")


class Alerts:
    """A subscriber. Requests are only added up, and only while somebody wants to be told."""

    def __init__(
        self,
        open_webhook: Callable[[Receiver], Webhook],
        spent_today: Callable[[], Decimal],
        clock: Clock,
    ) -> None:
        """Tells nobody until `take` says whom. Must be made on the event loop."""
        self._open = open_webhook
        self._spent_today = spent_today
        self._clock = clock
        self._config = AlertsConfig()
        self._cost_limit: Decimal | None = None
        self._episodes = Episodes(self._config.repeat_s, clock)
        self._latencies = rules.latencies()
        self._agreements = rules.agreements()
        self._webhooks: list[Webhook] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._looking = asyncio.create_task(self._look_on(), name="alerts")

    def take(
        self, config: AlertsConfig, receivers: Sequence[Receiver], budget: Decimal | None
    ) -> None:
        """From now on these rules hold and these are told; a new one hears at once what is wrong.

        `budget`: the daily one, if there is any.
        """
        self._config = config
        self._cost_limit = rules.cost_limit(config.cloud_daily_usd, budget)
        self._episodes.repeat_s = config.repeat_s
        kept = {webhook.receiver: webhook for webhook in self._webhooks}
        for receiver in kept.keys() - set(receivers):
            self._put_down(kept[receiver])
        self._webhooks = [kept.get(receiver) or self._open(receiver) for receiver in receivers]
        for webhook in self._webhooks:
            if webhook.receiver not in kept:
                for alert in self._episodes.firing:
                    webhook.put(alert)

    def forget(self, backends: Collection[str]) -> None:
        """These are gone, or others have their names: what was wrong with them is over."""
        self._tell(*self._episodes.drop(lambda key: key[0] in _OF_BACKENDS and key[1] in backends))

    def on_event(self, event: GatewayEvent) -> None:
        """See `core.events.Subscriber`. Never waits."""
        match event:
            case Served():
                if self._webhooks:
                    self._add(event)
            case Compared():
                self._agreements.add(float(event.agreed), self._clock.monotonic())
            case HealthMoved():
                self._note(rules.health(event))
            case ModelLoaded():
                self._note(Finding(Name.BACKEND_UNAVAILABLE, event.backend, bad=False))
            case BreakerMoved():
                self._note(rules.breaker(event))

    def look(self) -> None:
        """Judges what was added up, and tells what had to wait."""
        now_s = self._clock.monotonic()
        if self._webhooks:
            self._note(rules.cost(self._spent_today(), self._cost_limit))
            for tier, latency in self._latencies.items():
                self._note(rules.latency(tier, latency.means(now_s), self._config))
        self._note(rules.agreement(self._agreements.means(now_s), self._config))
        self._tell(*self._episodes.due())

    async def close(self) -> None:
        """Tells what is waiting, for a few seconds at most."""
        self._looking.cancel()
        for webhook in self._webhooks:
            self._put_down(webhook)
        self._webhooks = []
        await asyncio.gather(self._looking, *self._closing, return_exceptions=True)

    def _add(self, served: Served) -> None:
        """Answers of chat models only: vectors come much faster, and what is kept at once."""
        if (
            served.tier is not None
            and served.error is None
            and served.route != "cache"
            and served.operation == "chat"
        ):
            self._latencies[served.tier].add(served.latency_ms, self._clock.monotonic())

    def _note(self, finding: Finding | None) -> None:
        alert = None if finding is None else self._episodes.note(finding)
        if alert is not None:
            self._tell(alert)

    def _tell(self, *alerts: Alert) -> None:
        for alert in alerts:
            for webhook in self._webhooks:
                webhook.put(alert)

    def _put_down(self, webhook: Webhook) -> None:
        task = asyncio.create_task(webhook.close(), name="webhook closing")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _look_on(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                self.look()
            except Exception:
                _log.exception("looking for alerts broke")

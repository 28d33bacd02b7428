"""One webhook: a bounded queue, and one task that posts what is in it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from msgspec import Struct

from hybridge.core.clock import Clock
from hybridge.core.redaction import Redactor
from hybridge.telemetry.alerts.alert import Alert
from hybridge.telemetry.alerts.config import ShapeName
from hybridge.telemetry.alerts.shapes import SHAPES, Message, Refusal, refusal
from hybridge.telemetry.outbound import Persistence, Post, origin, secret_parts

QUEUE = 64
"""Alerts that may wait; of more, the oldest are dropped, for the latest say how things are now."""

_log = logging.getLogger("hybridge.alerts")
Count = Callable[[Alert, str], None]
"""Counts what became of an alert: `sent`, `failed` or `dropped`."""


class Receiver(Struct, frozen=True):
    """Who is told, and how."""

    name: str
    url: str
    shape: ShapeName
    service: str
    """What this gateway is called."""
    secret: str | None = None
    """What messages are signed with."""

    def __repr__(self) -> str:
        """Without the address: whoever knows it can post to it."""
        return f"Receiver(name={self.name!r}, at={origin(self.url)!r}, shape={self.shape!r})"


class Webhook:
    """Tells one receiver, in order; nobody who tells it something ever waits.

    What it does not take is tried again for a while, counted, and logged once until it works again.
    """

    def __init__(
        self,
        receiver: Receiver,
        post: Post,
        clock: Clock,
        count: Count,
        persistence: Persistence | None = None,
    ) -> None:
        """Must be made on the event loop."""
        self.receiver = receiver
        self._post = post
        self._clock = clock
        self._count = count
        self._persistence = persistence or Persistence()
        secret = () if receiver.secret is None else (receiver.secret,)
        self._redact = Redactor((*secret_parts(receiver.url), *secret))
        self._waiting: deque[Alert] = deque()
        self._sending: Alert | None = None
        self._there = asyncio.Event()
        self._closing = False
        self._failing = False
        self._task = asyncio.create_task(self._run(), name=f"webhook {receiver.name}")

    def put(self, alert: Alert) -> None:
        """Tells it soon."""
        if self._closing:
            self._count(alert, "dropped")
            return
        if len(self._waiting) >= QUEUE:
            self._count(self._waiting.popleft(), "dropped")
        self._waiting.append(alert)
        self._there.set()

    async def close(self) -> None:
        """Sends what is waiting, for a few seconds at most; the rest is dropped, and counted."""
        self._closing = True
        self._there.set()
        done, _ = await asyncio.wait({self._task}, timeout=self._persistence.close_s)
        if not done:
            self._task.cancel()
            await asyncio.wait({self._task})
        left = self._waiting if self._sending is None else (self._sending, *self._waiting)
        for alert in left:
            self._count(alert, "dropped")

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            await self._there.wait()
            if self._waiting:
                self._sending = self._waiting.popleft()
                await self._tell(self._sending)
                self._sending = None
            elif not self._closing:
                self._there.clear()

    async def _tell(self, alert: Alert) -> None:
        """Until it is taken, or given up."""
        refused = await self._send(alert)
        for attempt in range(1, self._persistence.attempts):
            if refused is None or not refused.again:
                break
            await asyncio.sleep(self._persistence.pause(attempt))
            refused = await self._send(alert)
        self._count(alert, "sent" if refused is None else "failed")
        self._say(refused)

    async def _send(self, alert: Alert) -> Refusal | None:
        receiver = self.receiver
        shape = SHAPES[receiver.shape]
        message = shape(alert, receiver.service, receiver.secret, self._clock.now())
        try:
            answer = await self._post(
                _address(receiver.url, message),
                message.headers,
                message.body,
                self._persistence.timeout_s,
            )
        except TimeoutError:
            return Refusal(f"no answer within {self._persistence.timeout_s:g} s", again=True)
        except Exception as error:  # whatever the way out raises, a request must not feel it
            return Refusal(self._redact(f"{type(error).__name__}: {error}"), again=True)
        return refusal(receiver.shape, answer)

    def _say(self, refused: Refusal | None) -> None:
        """Logs the first failure, and the first success after it."""
        if (refused is not None) == self._failing:
            return
        self._failing = refused is not None
        who = (self.receiver.name, origin(self.receiver.url))
        if refused is None:
            _log.info("webhook %s at %s takes alerts again", *who)
        else:
            _log.error("webhook %s at %s takes no alerts: %s", *who, refused.reason)


def _address(url: str, message: Message) -> str:
    if not message.query:
        return url
    return f"{url}{'&' if '?' in url else '?'}{message.query}"

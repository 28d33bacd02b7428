"""A scripted gateway behind a real listener on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import pytest

from hybridge.core.clock import SystemClock
from hybridge.core.redaction import Redactor
from hybridge.server.app import App
from hybridge.server.config import ServerConfig
from hybridge.server.serve import Listener
from hybridge.server.surface import build_app
from hybridge.telemetry.metrics import Metrics
from hybridge.testing.gateway import ScriptedGateway, Step
from hybridge.testing.http import ask, sent

SECRET = "upstream-secret-0123456789"


@dataclass
class Door:
    """A listener, what is behind it, and a client for it."""

    listener: Listener
    gateway: ScriptedGateway
    metrics: Metrics
    app: App

    @property
    def ask(self) -> Callable[..., Any]:
        return partial(ask, self.listener.port)

    @property
    def sent(self) -> Callable[..., Any]:
        return partial(sent, self.listener.port)


@pytest.fixture
def opened() -> Callable[..., AbstractAsyncContextManager[Door]]:
    """`async with opened(step, step, …, gateway=…, keys=…, **server_config) as door`."""

    @asynccontextmanager
    async def open_door(
        *steps: Step,
        gateway: ScriptedGateway | None = None,
        keys: dict[str, str] | None = None,
        longest_s: float = inf,
        **config: Any,
    ) -> AsyncIterator[Door]:
        gateway = gateway or ScriptedGateway(*steps)
        settings, metrics = ServerConfig(port=0, **config), Metrics()
        app = build_app(
            gateway,
            settings,
            keys=keys or {},
            metrics=metrics,
            redact=Redactor([SECRET]),
            clock=SystemClock(),
            longest_s=longest_s,
        )
        metrics.watch_in_flight(lambda: len(app.drain))
        async with Listener(app, settings) as listener:
            yield Door(listener, gateway, metrics, app)

    return open_door


@pytest.fixture
def chat() -> Callable[..., dict[str, Any]]:
    """A chat request's body."""

    def body(text: str = "Hi", **members: Any) -> dict[str, Any]:
        return {"model": "auto", "messages": [{"role": "user", "content": text}], **members}

    return body

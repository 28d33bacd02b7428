"""An upstream on loopback, and a backend that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.openai_compatible import OpenAICompatible
from hybridge.cloud.transport import Transport
from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.redaction import Redactor
from hybridge.core.request import Message, Request, Tier
from hybridge.core.response import Event
from hybridge.testing.backend import spec
from hybridge.testing.replies import Reply
from hybridge.testing.upstream import Upstream

CLOCK = SystemClock()
KEY = "sk-the-gateways-own-key"


@dataclass
class Asked:
    """A backend and the upstream that it asks."""

    upstream: Upstream
    backend: OpenAICompatible

    async def ask(self, **body: Any) -> list[Event]:
        return [event async for event in self.backend.answer(a_call(**body))]


def a_call(*, within_s: float = 20.0, want_logprobs: bool = False, **body: Any) -> Call:
    sent = {"model": "auto", "messages": [{"role": "user", "content": "你好"}]} | body
    stream = bool(body.get("stream"))
    request = Request("r1", "auto", (Message("user", "你好"),), sent, stream=stream)
    return Call(request, Deadline.after(within_s, CLOCK), want_logprobs)


@pytest.fixture
def asked() -> Callable[..., AbstractAsyncContextManager[Asked]]:
    """`async with asked(reply, reply, …, **timeouts) as up`."""

    @asynccontextmanager
    async def start(*replies: Reply, **timeouts: float) -> AsyncIterator[Asked]:
        async with Upstream(*replies) as upstream:
            limits = TimeoutsConfig(**timeouts)
            async with Transport(upstream.base_url, limits, key=KEY, proxy=None) as transport:
                backend = OpenAICompatible(
                    spec("up", Tier.CLOUD),
                    transport,
                    limit_field="as_sent",
                    redact=Redactor([KEY]),
                    clock=CLOCK,
                )
                yield Asked(upstream, backend)

    return start


@pytest.fixture
def call() -> Callable[..., Call]:
    """Makes a call: `call(stream=True, within_s=…, want_logprobs=…, **body)`."""
    return a_call

"""An upstream on loopback, and a backend that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from hybridge.cloud.anthropic.dialect import HEADERS
from hybridge.cloud.chat_completions import ChatCompletions
from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.dialect import Dialect
from hybridge.cloud.http_backend import HttpBackend
from hybridge.cloud.transport import Transport
from hybridge.core.backend import Call
from hybridge.core.clock import Clock, Deadline, SystemClock
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
    backend: HttpBackend

    async def ask(self, **body: Any) -> list[Event]:
        return [event async for event in self.backend.answer(a_call(**body))]


def a_call(*, within_s: float = 20.0, want_logprobs: bool = False, **body: Any) -> Call:
    sent = {"model": "auto", "messages": [{"role": "user", "content": "你好"}]} | body
    stream = bool(body.get("stream"))
    turns = tuple(
        Message(turn["role"], tool_calls=len(turn.get("tool_calls") or ()))
        for turn in sent["messages"]
    )
    request = Request("r1", "auto", turns, sent, stream=stream)
    return Call(request, Deadline.after(within_s, CLOCK), want_logprobs)


@pytest.fixture
def asked() -> Callable[..., AbstractAsyncContextManager[Asked]]:
    """`async with asked(reply, reply, …, dialect=…, **timeouts) as up`."""

    @asynccontextmanager
    async def start(
        *replies: Reply, dialect: Dialect | None = None, clock: Clock = CLOCK, **timeouts: float
    ) -> AsyncIterator[Asked]:
        async with Upstream(*replies) as upstream:
            limits = TimeoutsConfig(**timeouts)
            header = "authorization" if dialect is None or "chat" in dialect.path else "x-api-key"
            headers = {} if header == "authorization" else HEADERS
            transport = Transport(
                upstream.base_url, limits, key=KEY, proxy=None, key_header=header, headers=headers
            )
            async with transport:
                backend = HttpBackend(
                    spec("up", Tier.CLOUD),
                    transport,
                    dialect or ChatCompletions("up-model"),
                    redact=Redactor([KEY]),
                    clock=clock,
                )
                yield Asked(upstream, backend)

    return start


@pytest.fixture
def call() -> Callable[..., Call]:
    """Makes a call: `call(stream=True, within_s=…, want_logprobs=…, **body)`."""
    return a_call

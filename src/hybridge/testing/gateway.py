"""A gateway that answers as scripted, for those who build on one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
from msgspec.structs import replace

from hybridge.budget.allowance import Rate
from hybridge.core.backend import BackendSpec
from hybridge.core.embedding import EmbedderSpec, EmbeddingRequest
from hybridge.core.errors import UnknownModel
from hybridge.core.plan import Dropped, Route, Thresholds
from hybridge.core.report import Report
from hybridge.core.request import Request, Tier
from hybridge.core.response import Chunk, Completion, Event, Usage
from hybridge.core.wire import chunk
from hybridge.gateway.embedding_trip import EmbeddingReply
from hybridge.gateway.status import BackendStatus, Status
from hybridge.testing.backend import whole

Step = Chunk | Completion | Exception | float
"""An event, an error that ends the answer, or seconds to wait (infinity: for ever)."""

REPORT = Report(
    request_id="",
    route=Route.CLOUD_CLASSIFIED,
    tier="cloud",
    model="gpt-4o",
    score=8.25,
    confidence=0.75,
    reasons=("证明 needs reasoning",),
    dropped=(Dropped("local", "too small"),),
    degraded=False,
    notice=None,
    thresholds=Thresholds(),
    overhead_ms=1.23456,
    cost_usd=Decimal("0.0000012"),
    saved_usd=Decimal(0),
)
"""What a scripted reply says of itself, unless told otherwise."""
READY = Status(True, None, (BackendStatus("gpt", Tier.CLOUD, "gpt-4o", True, None),))
SPECS = (BackendSpec("gpt", Tier.CLOUD, "gpt-4o"), BackendSpec("lab/qwen", Tier.EDGE, "qwen"))
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
ESTIMATE = Usage(4, 6, estimated=True)
_HEAD = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def piece(text: str | None = None, finish: str | None = None, **members: Any) -> Chunk:
    """One chunk of a stream; `members` are added at its top."""
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return chunk(msgspec.json.encode(_HEAD | {"choices": [choice]} | members))


def usage_piece() -> Chunk:
    """The usage chunk as OpenAI sends it: without a choice."""
    return chunk(msgspec.json.encode(_HEAD | {"choices": [], "usage": USAGE}))


class ScriptedReply:
    """Plays the steps that are left."""

    def __init__(self, steps: Sequence[Step], said: Report, rates: Mapping[str, Rate]) -> None:
        self.events: AsyncIterator[Event] = _play(steps)
        self.usage = ESTIMATE
        self.rates = rates
        self._said = said

    def report(self) -> Report:
        """The same at any time."""
        return self._said


@dataclass
class Visit:
    """One request and what became of it."""

    request: Request
    over: bool = False
    cancelled: bool = False


class ScriptedGateway:
    """Serves every request with the same steps. What it was asked lies in `visits`.

    `begun` and `ended` are set when a request has come in, and when it is over.
    """

    def __init__(
        self,
        *steps: Step,
        said: Report = REPORT,
        state: Status = READY,
        rates: Mapping[str, Rate] | None = None,
    ) -> None:
        self.visits: list[Visit] = []
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.state = state
        self._steps = steps or (whole("Hello."),)
        self._said = said
        self._rates = rates or {}

    @asynccontextmanager
    async def serve(self, request: Request) -> AsyncIterator[ScriptedReply]:
        """Waits or raises as the steps before the first event say."""
        visit = Visit(request)
        self.visits.append(visit)
        self.begun.set()
        steps = list(self._steps)
        try:
            while not isinstance(steps[0], Chunk | Completion):
                await _wait(steps.pop(0))
            yield ScriptedReply(steps, replace(self._said, request_id=request.id), self._rates)
        except asyncio.CancelledError:
            visit.cancelled = True
            raise
        finally:
            visit.over = True
            self.ended.set()

    async def explain(self, request: Request) -> Report:
        """Notes the request, and tells what it would tell of a reply."""
        self.visits.append(Visit(request, over=True))
        return replace(self._said, request_id=request.id)

    def count_tokens(self, request: Request) -> int:
        """A tenth of the characters: any rule that tests can foretell will do."""
        return len(request.text) // 10

    def status(self) -> Status:
        return self.state

    def models(self) -> tuple[BackendSpec, ...]:
        return SPECS

    async def embed(self, asked: EmbeddingRequest) -> EmbeddingReply:
        """A gateway of chat models only; `hybridge.testing.embedding` has one that embeds."""
        raise UnknownModel(f"no embedding model is called {asked.request.model!r}", param="model")

    def embedders(self) -> tuple[EmbedderSpec, ...]:
        return ()


async def _play(steps: Sequence[Step]) -> AsyncIterator[Event]:
    for step in steps:
        if isinstance(step, Chunk | Completion):
            yield step
        else:
            await _wait(step)


async def _wait(step: Step) -> None:
    if isinstance(step, Exception):
        raise step
    if isinstance(step, float):
        await asyncio.sleep(step)

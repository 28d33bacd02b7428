"""Embedders, upstreams and a gateway whose vectors are known beforehand."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator, Sequence
from decimal import Decimal
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hybridge.budget.allowance import NO_LIMITS, Allowances, Limits
from hybridge.budget.config import BudgetConfig
from hybridge.budget.ledger import Ledger
from hybridge.core.clock import Clock, SystemClock
from hybridge.core.embedding import (
    Embedded,
    Embedder,
    EmbedderSpec,
    EmbeddingCall,
    EmbeddingRequest,
    TokenIds,
)
from hybridge.core.errors import BackendError, Fault
from hybridge.core.events import Events, Subscriber
from hybridge.core.request import AUTO, Request, Tier
from hybridge.core.response import Usage
from hybridge.execution.breaker import Breaker
from hybridge.execution.config import ExecutionConfig
from hybridge.gateway.embedding import EmbeddingGateway
from hybridge.privacy.config import PrivacyConfig
from hybridge.privacy.guard import Guard
from hybridge.privacy.policy import Policy
from hybridge.testing.backend import Hang, Pause
from hybridge.testing.replies import Received, Reply, Step, answers

DIMENSIONS = 8
Input = str | TokenIds | Sequence[int]


class Vectored(Struct, frozen=True):
    """A step of a script: answer with each input's `vector_of`."""

    usage: bool = True
    """Whether one token is counted for each input; else the answer has no usage."""


def vector_of(said: Input, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """A vector of length 1 that belongs to this input: the same every time, and no other's."""
    key = said if isinstance(said, str) else repr(list(said))
    seed = int.from_bytes(sha256(key.encode(errors="surrogatepass")).digest()[:8])
    drawn = np.random.default_rng(seed).standard_normal(dimensions)
    return np.asarray(drawn / np.linalg.norm(drawn), np.float32)


def embedder_spec(name: str, tier: Tier = Tier.EDGE, **more: Any) -> EmbedderSpec:
    """A plain spec; a cloud leaves the device, shortens and reads token ids unless told
    otherwise."""
    away = tier is Tier.CLOUD
    usual: dict[str, Any] = {
        "model": f"{name}-model",
        "leaves_device": away,
        "shortens": away,
        "reads_tokens": away,
        "dimensions": None if away else DIMENSIONS,
    }
    return EmbedderSpec(name=name, tier=tier, **(usual | more))


class ScriptedEmbedder:
    """Implements `core.embedding.Embedder` by playing steps, one for each call, the last one again
    and again. `calls` are those that were made."""

    def __init__(self, spec: EmbedderSpec, *steps: Vectored | BackendError | Pause | Hang) -> None:
        self._spec = spec
        self._steps = steps or (Vectored(),)
        self.calls: list[EmbeddingCall] = []

    @property
    def spec(self) -> EmbedderSpec:
        """What it claims to be."""
        return self._spec

    async def embed(self, call: EmbeddingCall) -> Embedded:
        """Plays the next step. Raises `BackendError` as scripted, or TIMEOUT at the deadline."""
        step = self._steps[min(len(self.calls), len(self._steps) - 1)]
        self.calls.append(call)
        if isinstance(step, BackendError):
            raise step
        if isinstance(step, Pause | Hang):
            await self._wait(step, call)
        asked = call.asked
        length = asked.dimensions or self._spec.dimensions or DIMENSIONS
        vectors = np.stack([vector_of(one, length) for one in asked.inputs])
        counts = not isinstance(step, Vectored) or step.usage
        return Embedded(vectors, self._spec.model, Usage(len(asked.inputs), 0) if counts else None)

    async def _wait(self, step: Pause | Hang, call: EmbeddingCall) -> None:
        wanted_s = step.seconds if isinstance(step, Pause) else float("inf")
        left_s = call.deadline.remaining_s
        await asyncio.sleep(min(wanted_s, left_s))
        if wanted_s >= left_s:
            name = self._spec.name
            raise BackendError(f"{name} was too slow", backend=name, fault=Fault.TIMEOUT)


def embeds(
    *,
    form: Literal["as_asked", "float"] = "as_asked",
    order: Literal["given", "reversed"] = "given",
    usage: bool = True,
    obeys: bool = True,
) -> Reply:
    """An upstream's good answer: each input's `vector_of`, one token counted for each.

    `form="float"`: it knows no base64. `order="reversed"`: its rows come last first.
    `obeys=False`: it passes over `dimensions`.
    """

    def reply(received: Received) -> Iterator[Step]:
        asked = received.json
        inputs = asked["input"]
        if isinstance(inputs, str) or isinstance(inputs[0], int):
            inputs = [inputs]
        packs = asked.get("encoding_format") == "base64" and form == "as_asked"
        length = asked.get("dimensions") if obeys else None
        rows = [
            {"object": "embedding", "index": i, "embedding": _told(one, length, packs=packs)}
            for i, one in enumerate(inputs)
        ]
        body: dict[str, Any] = {"object": "list", "model": asked["model"]}
        body["data"] = rows[::-1] if order == "reversed" else rows
        if usage:
            body["usage"] = {"prompt_tokens": len(rows), "total_tokens": len(rows)}
        yield from answers(body)(received)

    return reply


def embedding_request(*inputs: Input, model: str = AUTO, **more: Any) -> EmbeddingRequest:
    """A request as the server would make it; `more` are members of the body."""
    kept = tuple(one if isinstance(one, str) else tuple(one) for one in inputs)
    body = {"model": model, "input": list(kept), **more}
    request = Request("r", model, (), body, received_s=SystemClock().monotonic())
    return EmbeddingRequest(request, kept, more.get("dimensions"))  # type: ignore[arg-type]


def embedding_gateway(
    *embedders: Embedder,
    auto: str | None = None,
    privacy: PrivacyConfig | None = None,
    daily_usd: Decimal | None = None,
    watch: Subscriber | None = None,
    deadline_s: float = 10.0,
    clock: Clock | None = None,
    limits: Limits = NO_LIMITS,
) -> EmbeddingGateway:
    """A gateway wired as the real one is; `auto` is the first embedder unless named."""
    clock = clock or SystemClock()
    events = Events(*([watch] if watch else []))
    by_name = {one.spec.name: one for one in embedders}
    breakers = {
        name: Breaker(name, one.spec.tier, ExecutionConfig(), clock, events)
        for name, one in by_name.items()
    }
    return EmbeddingGateway(
        by_name,
        auto or next(iter(by_name)),
        Guard(Policy.of(privacy or PrivacyConfig())),
        Ledger(BudgetConfig(daily_usd=daily_usd), {}, clock),
        breakers,
        deadline_s=deadline_s,
        events=events,
        clock=clock,
        allowances=Allowances({}, clock, defaults=limits),
    )


def _told(said: Input, length: int | None, *, packs: bool) -> str | list[float]:
    vector = vector_of(said, length or DIMENSIONS)
    if packs:
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    numbers: list[float] = vector.tolist()
    return numbers

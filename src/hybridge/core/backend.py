"""The one thing that answers: a model behind an engine or a provider."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from decimal import Decimal
from typing import Protocol

from msgspec import Struct

from hybridge.core.clock import Deadline
from hybridge.core.request import Feature, Request, Tier
from hybridge.core.response import Event
from hybridge.core.trail import Kind


class Price(Struct, frozen=True):
    """What a backend costs."""

    input_usd: Decimal
    """USD per million prompt tokens."""
    output_usd: Decimal
    """USD per million completion tokens."""
    cached_usd: Decimal | None = None
    """USD per million cached prompt tokens; None: as `input_usd`."""
    cache_write_usd: Decimal | None = None
    """USD per million prompt tokens that are put into the cache; None: as `input_usd`."""


FREE = Price(Decimal(0), Decimal(0))


class BackendSpec(Struct, frozen=True):
    """What is known of a backend before it is asked."""

    name: str
    """Unique over both tiers; the name in configuration."""
    tier: Tier
    model: str
    """The model's name as its engine or provider knows it."""
    features: frozenset[Feature] = frozenset()
    """What it can do beyond plain chat."""
    context_tokens: int | None = None
    """Prompt and answer together; None: unknown, never a reason to drop it."""
    leaves_device: bool = True
    """Whether asking it sends the request to another machine (R32)."""
    price: Price | None = None
    """None: unknown; then its cost is unknown too, never zero."""
    version: str = ""
    """Digest or version of the weights; thresholds and records belong to it (R20)."""


class Call(Struct, frozen=True):
    """One question put to one backend."""

    request: Request
    deadline: Deadline
    want_logprobs: bool = False
    """Ask for token probabilities for the judge's use, even though the caller did not."""
    kind: Kind = "backend"
    """What it is asked for, as the request's trail names it."""


class Backend(Protocol):
    """Edge and cloud alike. `tests/contract/test_backend.py` is what each must pass.

    `answer` raises `BackendError` for every failure, and nothing else but cancellation. It never
    runs longer than the deadline. Closing the generator stops the work behind it at once.
    """

    @property
    def spec(self) -> BackendSpec: ...

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The answer's events: `Chunk`s if the request streams, else one `Completion`."""
        ...

    async def probe(self) -> None:
        """Returns when the backend could serve now, else raises `BackendError`. Costs nothing."""
        ...

"""Embedding models: the shipped one, folders on this device, and servers near and far."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from decimal import Decimal
from functools import partial
from pathlib import Path

from hybridge.budget.account import ZERO
from hybridge.budget.allowance import Allowances
from hybridge.budget.ledger import Ledger
from hybridge.budget.prices import Prices
from hybridge.cloud.config import TimeoutsConfig
from hybridge.cloud.embeddings import OpenAIEmbedder
from hybridge.cloud.providers import PROVIDERS
from hybridge.cloud.transport import Transport, is_loopback
from hybridge.core.backend import FREE, Price
from hybridge.core.clock import Clock
from hybridge.core.embedding import Embedder, EmbedderSpec
from hybridge.core.errors import ConfigError, ModelError
from hybridge.core.events import Events
from hybridge.core.redaction import Redactor
from hybridge.core.request import Tier
from hybridge.edge.embedder import OnnxEmbedder
from hybridge.edge.embedder_config import SHIPPED, EmbedderConfig, EmbeddingsConfig
from hybridge.edge.sentence_model import SentenceModel, files
from hybridge.execution.breaker import Breaker
from hybridge.execution.config import ExecutionConfig
from hybridge.gateway.embedding import EmbeddingGateway
from hybridge.gateway.visit import Visits
from hybridge.modelstore.digest import fingerprint
from hybridge.privacy.guard import Guard
from hybridge.settings.secrets import Secrets

SHIPPED_DIMENSIONS = 384
SHIPPED_LANGUAGES = frozenset({"en"})
REQUEST = 2048
"""Inputs of the largest request: all that came go out at once."""


class EmbedderRow:
    """One row of `embeddings.backends` with everything that belongs to it alone.

    It outlives a change of the configuration as long as what it is made of stays the same.
    """

    def __init__(
        self,
        made_of: tuple[EmbedderConfig, str | None],
        embedder: Embedder,
        breaker: Breaker,
        stack: AsyncExitStack,
        events: Events,
    ) -> None:
        """`made_of`: its configuration and its key. `stack` holds what its end gives back, and
        `events` is its breaker's own."""
        self.made_of = made_of
        self.embedder = embedder
        self.breaker = breaker
        self._stack = stack
        self._events = events

    def retire(self) -> None:
        """Another may have its name from now on: what still happens to it is told to nobody."""
        self._events.silence()

    async def close(self) -> None:
        """Gives back connections or weights."""
        await self._stack.aclose()


class EmbedderRows:
    """Makes the rows of a configuration, out of those there are where nothing changed."""

    def __init__(self, events: Events, clock: Clock, *, load: bool) -> None:
        """With `load=False` nothing is loaded: good for explaining, not for serving."""
        self._load = load
        self._events = events
        self._clock = clock
        self._prices = Prices(clock)

    async def make(
        self,
        config: EmbeddingsConfig,
        secrets: Secrets,
        execution: ExecutionConfig,
        kept: Mapping[str, EmbedderRow],
    ) -> dict[str, EmbedderRow]:
        """By name, in the order of the configuration. The shipped model is loaded when its first
        text comes, since many gateways embed nothing.

        Raises `ConfigError`, and `ModelError` for a folder that cannot be loaded; then what was
        made is closed again.
        """
        made: dict[str, EmbedderRow] = {}
        async with AsyncExitStack() as undo:
            for row in config.backends:
                made_of = (row, secrets.backends.get(row.name))
                known = kept.get(row.name)
                if known is None or known.made_of != made_of:
                    known = await self._row(made_of, Redactor(secrets.values), execution)
                    undo.push_async_callback(known.close)
                made[row.name] = known
            undo.pop_all()
        return made

    async def _row(
        self,
        made_of: tuple[EmbedderConfig, str | None],
        redact: Redactor,
        execution: ExecutionConfig,
    ) -> EmbedderRow:
        (row, key), stack = made_of, AsyncExitStack()
        embedder: Embedder
        if row.engine == "openai":
            transport = _transport(row, key)
            await stack.enter_async_context(transport)
            embedder = _remote(row, transport, self._price(row), redact)
        else:
            embedder = await _local(row, load=self._load)
            stack.callback(embedder.close)
        tier = embedder.spec.tier
        events = Events(self._events.emit)
        breaker = Breaker(row.name, tier, execution, self._clock, events)
        return EmbedderRow(made_of, embedder, breaker, stack, events)

    def _price(self, row: EmbedderConfig) -> Price | None:
        if isinstance(row.price, Decimal):
            return Price(row.price, ZERO)
        if _tier(row) is Tier.EDGE:
            return FREE
        provider = PROVIDERS.get(row.provider)
        called = provider.priced_as or provider.name if provider else row.provider
        return self._prices.find(called, row.model, writes=False)


def embedding_gateway(
    config: EmbeddingsConfig,
    rows: Mapping[str, EmbedderRow],
    guard: Guard,
    ledger: Ledger,
    *,
    deadline_s: float,
    events: Events,
    clock: Clock,
    allowances: Allowances | None = None,
    visits: Visits | None = None,
) -> EmbeddingGateway:
    """The gateway on top of the rows."""
    return EmbeddingGateway(
        {name: row.embedder for name, row in rows.items()},
        config.automatic,
        guard,
        ledger,
        {name: row.breaker for name, row in rows.items()},
        deadline_s=deadline_s,
        events=events,
        clock=clock,
        allowances=allowances,
        visits=visits,
    )


async def _local(row: EmbedderConfig, *, load: bool) -> OnnxEmbedder:
    shipped = row.model == SHIPPED
    try:
        path, _ = files(row)
        model = await asyncio.to_thread(SentenceModel.load, row) if load and not shipped else None
    except ModelError as error:
        raise ModelError(f"embeddings backend `{row.name}`: {error}") from error
    known = SHIPPED_DIMENSIONS if shipped else None
    usual = SHIPPED_LANGUAGES if shipped else None
    spec = EmbedderSpec(
        name=row.name,
        tier=Tier.EDGE,
        model=_called(row),
        leaves_device=False,
        price=FREE,
        version=fingerprint(path),
        dimensions=known if model is None else model.dimensions,
        languages=usual if row.languages is None else frozenset(row.languages),
    )
    ready = partial(SentenceModel.load, row) if model is None else lambda: model
    return OnnxEmbedder(spec, ready, batch=row.batch or 1, queue=row.queue)


def _remote(
    row: EmbedderConfig, transport: Transport, price: Price | None, redact: Redactor
) -> OpenAIEmbedder:
    spec = EmbedderSpec(
        name=row.name,
        tier=_tier(row),
        model=row.model,
        leaves_device=not _is_here(row),
        price=price,
        version=row.model,
        dimensions=row.dimensions,
        shortens=True,
        reads_tokens=True,
    )
    batch = row.batch or REQUEST
    return OpenAIEmbedder(spec, transport, batch=batch, dimensions=row.dimensions, redact=redact)


def _transport(row: EmbedderConfig, key: str | None) -> Transport:
    url = _url(row)
    if not url:
        raise ConfigError(f"embeddings backend `{row.name}` needs a base_url")
    return Transport(url, TimeoutsConfig(total_s=row.timeout_s), key=key, proxy=row.proxy)


def _url(row: EmbedderConfig) -> str:
    provider = PROVIDERS.get(row.provider)
    return row.base_url or (provider.base_url if provider else "")


def _is_here(row: EmbedderConfig) -> bool:
    return row.trusted or is_loopback(_url(row))


def _tier(row: EmbedderConfig) -> Tier:
    if row.tier is not None:
        return Tier(row.tier)
    return Tier.EDGE if _is_here(row) else Tier.CLOUD


def _called(row: EmbedderConfig) -> str:
    """A model's name: its folder's. The shipped one has the name that it is asked for by."""
    place = Path(row.model)
    return place.parent.name if place.suffix == ".onnx" else place.name

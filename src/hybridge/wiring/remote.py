"""Backends behind HTTP: clouds, and local servers of the edge."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Literal

from hybridge.budget.prices import Prices
from hybridge.cloud.config import CloudBackendConfig, TimeoutsConfig
from hybridge.cloud.openai_compatible import OpenAICompatible
from hybridge.cloud.providers import PROVIDERS, LimitField, Provider
from hybridge.cloud.transport import Transport, is_loopback
from hybridge.core.backend import FREE, BackendSpec, Price
from hybridge.core.clock import Clock
from hybridge.core.errors import ConfigError
from hybridge.core.redaction import Redactor
from hybridge.core.request import Feature, Tier
from hybridge.edge.config import EdgeBackendConfig
from hybridge.settings import Settings

_EVERYTHING = frozenset(Feature)
_OF_LOCAL_SERVERS = frozenset({Feature.TOOLS, Feature.JSON, Feature.JSON_SCHEMA, Feature.LOGPROBS})
"""What Ollama, llama-server and vLLM all do; more is named in the configuration."""


class Remote:
    """Builds backends over HTTP; their connections close with the stack."""

    def __init__(self, settings: Settings, stack: AsyncExitStack, clock: Clock) -> None:
        self._settings = settings
        self._stack = stack
        self._clock = clock
        self._redact = Redactor(settings.secrets.values)
        self._prices = Prices(clock)

    async def backends(self) -> dict[str, OpenAICompatible]:
        """All of them, by name, the edge's first."""
        edge = [await self._edge(r) for r in self._settings.edge.backends if r.engine == "openai"]
        cloud = [await self._cloud(row) for row in self._settings.cloud.backends]
        return {backend.spec.name: backend for backend in (*edge, *cloud)}

    async def _edge(self, row: EdgeBackendConfig) -> OpenAICompatible:
        url = row.base_url or ""
        spec = BackendSpec(
            name=row.name,
            tier=Tier.EDGE,
            model=row.model,
            features=_features(row.features, "edge", row.name) or _OF_LOCAL_SERVERS,
            context_tokens=row.context_tokens,
            leaves_device=not (row.trusted or is_loopback(url)),
            price=FREE,
            version=row.model,
        )
        return await self._backend(spec, url, TimeoutsConfig(), None, "max_tokens")

    async def _cloud(self, row: CloudBackendConfig) -> OpenAICompatible:
        provider = PROVIDERS[row.provider]
        url = row.base_url or provider.base_url
        if not url:
            raise ConfigError(f"cloud backend `{row.name}`: provider {row.provider} needs base_url")
        spec = BackendSpec(
            name=row.name,
            tier=Tier.CLOUD,
            model=row.model,
            features=_features(row.features, "cloud", row.name) or _EVERYTHING,
            context_tokens=row.context_tokens,
            leaves_device=not is_loopback(url),
            price=self._price(row, provider),
            version=row.model,
        )
        return await self._backend(spec, url, row.timeouts, row.proxy, provider.limit_field)

    async def _backend(
        self,
        spec: BackendSpec,
        url: str,
        timeouts: TimeoutsConfig,
        proxy: str | None,
        limit_field: LimitField,
    ) -> OpenAICompatible:
        key = self._settings.secrets.backends.get(spec.name)
        transport = Transport(url, timeouts, key=key, proxy=proxy)
        await self._stack.enter_async_context(transport)
        return OpenAICompatible(
            spec, transport, limit_field=limit_field, redact=self._redact, clock=self._clock
        )

    def _price(self, row: CloudBackendConfig, provider: Provider) -> Price | None:
        if row.price != "auto":
            return Price(row.price.input_usd, row.price.output_usd, row.price.cached_usd)
        return self._prices.find(provider.priced_as or provider.name, row.model)


def _features(
    named: Iterable[str] | None, tier: Literal["edge", "cloud"], backend: str
) -> frozenset[Feature]:
    """The features that a row names. Raises `ConfigError` for one that there is not."""
    try:
        return frozenset(Feature(name) for name in named or ())
    except ValueError as error:
        known = ", ".join(feature.value for feature in Feature)
        raise ConfigError(
            f"{tier}.backends `{backend}`: features: {error}; there are {known}"
        ) from error

"""Backends behind HTTP: clouds, and local servers of the edge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from hybridge.budget.prices import Prices
from hybridge.cloud.anthropic import dialect as anthropic
from hybridge.cloud.chat_completions import ChatCompletions
from hybridge.cloud.config import CloudBackendConfig, TimeoutsConfig
from hybridge.cloud.dialect import Dialect
from hybridge.cloud.http.trust import system_trust
from hybridge.cloud.http_backend import HttpBackend
from hybridge.cloud.pictures.backend import KeptHome, Shown
from hybridge.cloud.pictures.config import PicturesConfig
from hybridge.cloud.pictures.pictures import Pictures
from hybridge.cloud.providers import PROVIDERS, ImageUrls, Provider
from hybridge.cloud.tool_ids import ALPHANUMERIC9
from hybridge.cloud.transport import KeyHeader, Transport, is_loopback
from hybridge.core.backend import FREE, Backend, BackendSpec, Price
from hybridge.core.clock import Clock
from hybridge.core.redaction import Redactor
from hybridge.core.request import Feature, Tier
from hybridge.edge.config import EdgeBackendConfig
from hybridge.settings.secrets import Secrets

_EVERYTHING = frozenset(Feature)
_OF_LOCAL_SERVERS = frozenset({Feature.TOOLS, Feature.JSON, Feature.JSON_SCHEMA, Feature.LOGPROBS})
"""What Ollama, llama-server and vLLM all do; more is named in the configuration."""

Connected = tuple[Backend, Transport]
"""A backend, and the connections that it keeps."""


class Speech(Struct, frozen=True):
    """How one API is spoken."""

    dialect: Dialect
    features: frozenset[Feature]
    """What it can say beyond chat."""
    key_header: KeyHeader = "authorization"
    headers: Mapping[str, str] = {}


class Remote:
    """Builds backends over HTTP, one a row. Raises `ConfigError` for an address that is none."""

    def __init__(self, secrets: Secrets, clock: Clock, pictures: PicturesConfig) -> None:
        self._keys = secrets.backends
        self._redact = Redactor(secrets.values)
        self._clock = clock
        self._prices = Prices(clock)
        self._fetching = pictures

    def edge(self, row: EdgeBackendConfig) -> Connected:
        """A server of this device, or of a host that is trusted like it."""
        url = row.base_url or ""
        dialect = ChatCompletions(
            row.model,
            limit_field=row.limit_field or "max_tokens",
            spelling=ALPHANUMERIC9 if row.tool_ids == "alphanumeric9" else None,
        )
        speech = Speech(dialect, _OF_LOCAL_SERVERS)
        spec = BackendSpec(
            name=row.name,
            tier=Tier.EDGE,
            model=row.model,
            features=_features(row.features) or speech.features,
            context_tokens=row.context_tokens,
            leaves_device=not (row.trusted or is_loopback(url)),
            price=FREE,
            version=row.model,
        )
        return self._connected(spec, speech, url, TimeoutsConfig(), None, row.image_urls)

    def cloud(self, row: CloudBackendConfig) -> Connected:
        """A provider far away. What listens on this machine under `cloud` passes on to one."""
        provider = PROVIDERS[row.provider]
        speech = self._speech(row, provider)
        url = row.base_url or provider.base_url
        spec = BackendSpec(
            name=row.name,
            tier=Tier.CLOUD,
            model=row.model,
            features=_features(row.features) or speech.features,
            context_tokens=row.context_tokens,
            price=self._price(row, provider),
            version=row.model,
        )
        shown = row.image_urls or provider.image_urls
        return self._connected(spec, speech, url, row.timeouts, row.proxy, shown)

    def _connected(
        self,
        spec: BackendSpec,
        speech: Speech,
        url: str,
        timeouts: TimeoutsConfig,
        proxy: str | None,
        image_urls: ImageUrls,
    ) -> Connected:
        transport = Transport(
            url,
            timeouts,
            key=self._keys.get(spec.name),
            proxy=proxy,
            key_header=speech.key_header,
            headers=speech.headers,
        )
        made = HttpBackend(spec, transport, speech.dialect, redact=self._redact, clock=self._clock)
        return self._seeing(made, image_urls), transport

    def _seeing(self, backend: Backend, image_urls: ImageUrls) -> Backend:
        """With what it takes for it to see pictures at an address."""
        if image_urls == "inline":
            return Shown(backend, self._pictures)
        return backend if backend.spec.leaves_device else KeptHome(backend)

    @cached_property
    def _pictures(self) -> Pictures:
        """Made where it is needed, for to read whom the system trusts takes a moment."""
        return Pictures(self._fetching, system_trust())

    def _speech(self, row: CloudBackendConfig, provider: Provider) -> Speech:
        if provider.api == "messages":
            dialect = anthropic.Messages(row.model, max_tokens=row.max_tokens, clock=self._clock)
            return Speech(dialect, anthropic.FEATURES, "x-api-key", anthropic.HEADERS)
        spelled = (row.tool_ids or provider.tool_ids) == "alphanumeric9"
        return Speech(
            ChatCompletions(
                row.model,
                limit_field=row.limit_field or provider.limit_field,
                spelling=ALPHANUMERIC9 if spelled else None,
            ),
            _EVERYTHING,
        )

    def _price(self, row: CloudBackendConfig, provider: Provider) -> Price | None:
        if row.price != "auto":
            return Price(row.price.input_usd, row.price.output_usd, row.price.cached_usd)
        return self._prices.find(provider.priced_as or provider.name, row.model)


def _features(named: Iterable[str] | None) -> frozenset[Feature]:
    return frozenset(Feature(name) for name in named or ())

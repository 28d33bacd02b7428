"""Keys and passwords: named in the configuration, held by the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from hybridge.cache.config import CacheConfig
from hybridge.cloud.config import CloudBackendConfig, CloudConfig
from hybridge.cloud.providers import Provider
from hybridge.edge.config import EdgeBackendConfig, EdgeConfig, ModelsConfig
from hybridge.edge.embedder_config import EmbedderConfig, EmbeddingsConfig
from hybridge.server.config import ServerConfig
from hybridge.settings.problems import Loc
from hybridge.storage.config import KEY_FROM, RecordsConfig
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.config import TelemetryConfig, header_pairs, web_address
from hybridge.telemetry.outbound import secret_parts

SHORTEST = 32
"""Characters of a secret that is no password but a key; in hexadecimal they hold 128 bits."""


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """What the `…_env` keys name, looked up. Never shown, not even in a traceback."""

    backends: Mapping[str, str] = field(default_factory=dict)
    """Key of each backend that has one, by the backend's name."""
    tenants: Mapping[str, str] = field(default_factory=dict)
    """API key of each tenant, by its name."""
    admin: str | None = None
    """Key of `/admin`."""
    cache: str | None = None
    """What makes the keys of a shared cache."""
    audit: str | None = None
    """What seals the audit trail."""
    webhooks: Mapping[str, str] = field(default_factory=dict)
    """Address of each webhook of `alerts`, by its name: whoever knows it can post to it."""
    signing: Mapping[str, str] = field(default_factory=dict)
    """What a webhook's messages are signed with, by its name."""
    otlp_headers: Mapping[str, str] = field(default_factory=dict)
    """Headers for the collector of traces."""
    s3: tuple[str, str] | None = None
    """Access key and secret key of `models.store`, where they are named."""

    @property
    def values(self) -> frozenset[str]:
        """All of them, for those who keep them out of logs."""
        keys = (self.admin, self.cache, self.audit, *(self.s3 or ()))
        single = (key for key in keys if key is not None)
        addresses = (part for url in self.webhooks.values() for part in secret_parts(url))
        news = (*addresses, *self.signing.values(), *self.otlp_headers.values())
        return frozenset((*self.backends.values(), *self.tenants.values(), *single, *news))


class Lookup:
    """Finds secrets in the environment, and notes those that are missing."""

    def __init__(self, environ: Mapping[str, str], providers: Mapping[str, Provider]) -> None:
        self._environ = environ
        self._providers = providers
        self.missing: list[tuple[Loc, str]] = []
        """Key of the configuration, and what is wrong."""

    def edge(self, edge: EdgeConfig) -> dict[str, str]:
        """Keys of local servers that want one, by backend."""
        keys = {row.name: self._of_row("edge", i, row) for i, row in enumerate(edge.backends)}
        return {name: key for name, key in keys.items() if key is not None}

    def cloud(self, cloud: CloudConfig) -> dict[str, str]:
        """Keys by backend; a variable that is only a provider's usual one may be missing."""
        keys = {
            row.name: self._of_row("cloud", i, row) or self._usual_key(row)
            for i, row in enumerate(cloud.backends)
        }
        return {name: key for name, key in keys.items() if key is not None}

    def embeddings(self, embeddings: EmbeddingsConfig) -> dict[str, str]:
        """The same for servers that embed."""
        keys = {
            row.name: self._of_row("embeddings", i, row) or self._usual_key(row)
            for i, row in enumerate(embeddings.backends)
            if row.engine == "openai"
        }
        return {name: key for name, key in keys.items() if key is not None}

    def tenants(self, server: ServerConfig) -> dict[str, str]:
        """API keys by tenant."""
        found: dict[str, str] = {}
        for index, row in enumerate(server.api_keys):
            loc = ("server", "api_keys", index, "key_env")
            key = self._named(row.key_env, loc, f"API key `{row.name}`")
            if key is not None and key in found.values():
                self.missing.append((loc, f"{row.key_env} holds the same key as another row"))
            elif key is not None:
                found[row.name] = key
        return found

    def admin(self, server: ServerConfig) -> str | None:
        """The key of `/admin`, where one is named."""
        return self._named(server.admin_key_env, ("server", "admin_key_env"), "the admin key")

    def cache(self, cache: CacheConfig | None) -> str | None:
        """The secret of a shared cache. One that could be guessed would keep nothing secret."""
        if cache is None or cache.store == "memory":
            return None
        return self._key(cache.key_env, ("cache", "key_env"), "the shared cache", SHORTEST)

    def audit(self, records: RecordsConfig) -> str | None:
        """What seals the audit trail, where it is named. Too short a key could be guessed."""
        loc = ("records", "audit_key_env")
        return self._key(records.audit_key_env, loc, "the audit trail", KEY_FROM)

    def s3(self, models: ModelsConfig) -> tuple[str, str] | None:
        """The keys of the store of models, where it is a bucket and they are named."""
        if not (models.store or "").startswith("s3://"):
            return None
        names = ("access_key_env", "secret_key_env")
        keys = [
            self._named(getattr(models.s3, name), ("models", "s3", name), "the store of models")
            for name in names
        ]
        return (keys[0], keys[1]) if keys[0] and keys[1] else None

    def _key(self, variable: str | None, loc: Loc, whose: str, shortest: int) -> str | None:
        """A secret that is no password: one that could be guessed would keep nothing secret."""
        key = self._named(variable, loc, whose)
        if key is not None and len(key) < shortest:
            what = f"{variable} holds fewer than {shortest} characters"
            self.missing.append((loc, f"{what}; make one with `openssl rand -hex 32`"))
        return key

    def webhooks(self, alerts: AlertsConfig) -> dict[str, str]:
        """Addresses by webhook."""
        found: dict[str, str] = {}
        for index, row in enumerate(alerts.webhooks):
            loc: Loc = ("alerts", "webhooks", index, "url_env")
            url = row.url or self._named(row.url_env, loc, f"webhook `{row.name}`")
            try:
                found[row.name] = web_address(url) or ""
            except ValueError as error:
                self.missing.append((loc, f"environment variable {row.url_env} {error}"))
        return found

    def signing(self, alerts: AlertsConfig) -> dict[str, str]:
        """Secrets by webhook, of those that sign."""
        keys = {}
        for index, row in enumerate(alerts.webhooks):
            loc: Loc = ("alerts", "webhooks", index, "secret_env")
            keys[row.name] = self._named(row.secret_env, loc, f"webhook `{row.name}`")
        return {name: key for name, key in keys.items() if key is not None}

    def otlp_headers(self, telemetry: TelemetryConfig) -> dict[str, str]:
        """What a collector wants to see beside the spans."""
        loc: Loc = ("telemetry", "otlp_headers_env")
        variable = telemetry.otlp_headers_env
        try:
            return header_pairs(self._named(variable, loc, "the collector") or "")
        except ValueError as error:
            self.missing.append((loc, f"environment variable {variable} {error}"))
            return {}

    def _named(self, variable: str | None, loc: Loc, whose: str) -> str | None:
        if variable is None:
            return None
        value = self._environ.get(variable, "").strip()
        if not value:
            self.missing.append(
                (loc, f"environment variable {variable} is not set; {whose} needs it")
            )
        return value or None

    def _of_row(
        self, tier: str, i: int, row: EdgeBackendConfig | CloudBackendConfig | EmbedderConfig
    ) -> str | None:
        loc: Loc = (tier, "backends", i, "api_key_env")
        return self._named(row.api_key_env, loc, f"backend `{row.name}`")

    def _usual_key(self, row: CloudBackendConfig | EmbedderConfig) -> str | None:
        """A provider's own key goes to that provider's own address only."""
        provider = self._providers.get(row.provider)
        if provider is None or provider.key_env is None or row.api_key_env is not None:
            return None
        at_home = not row.base_url or not provider.base_url or _host(row) == _host(provider)
        return self._environ.get(provider.key_env, "").strip() or None if at_home else None


def _host(row: CloudBackendConfig | EmbedderConfig | Provider) -> str | None:
    return urlsplit(row.base_url or "").hostname

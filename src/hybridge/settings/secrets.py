"""Keys and passwords: named in the configuration, held by the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from hybridge.cache.config import CacheConfig
from hybridge.cloud.config import CloudBackendConfig, CloudConfig
from hybridge.cloud.providers import Provider
from hybridge.edge.config import EdgeBackendConfig, EdgeConfig
from hybridge.edge.embedder_config import EmbedderConfig, EmbeddingsConfig
from hybridge.server.config import ServerConfig
from hybridge.settings.problems import Loc

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

    @property
    def values(self) -> frozenset[str]:
        """All of them, for those who keep them out of logs."""
        single = (secret for secret in (self.admin, self.cache) if secret is not None)
        return frozenset((*self.backends.values(), *self.tenants.values(), *single))


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
        loc: Loc = ("cache", "key_env")
        secret = self._named(cache.key_env, loc, "the shared cache")
        if secret is not None and len(secret) < SHORTEST:
            what = f"{cache.key_env} holds fewer than {SHORTEST} characters"
            self.missing.append((loc, f"{what}; make one with `openssl rand -hex 32`"))
        return secret

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

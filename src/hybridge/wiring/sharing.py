"""What replicas share: the answers that were given before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hybridge.cache.config import CacheConfig
from hybridge.cache.shared import SharedCache
from hybridge.settings import Settings
from hybridge.storage.redis_store import RedisStore
from hybridge.wiring.lasting import Lasting, is_named
from hybridge.wiring.row import Row

if TYPE_CHECKING:
    from hybridge.wiring.generation import Generation


def shared_store(
    settings: Settings, lasting: Lasting, before: Generation | None
) -> RedisStore | None:
    """The connections to the configured Redis, those of before where it is the same one; None
    where none is used. Raises `ConfigError`."""
    cache, url = settings.cache, settings.state.redis_url
    if cache is None or cache.store != "redis" or cache.ttl_s == 0 or url is None:
        return None
    if before is not None and before.store is not None and before.settings.state == settings.state:
        return before.store
    return RedisStore.at(url, lasting.clock, lasting.metrics.on_shared_cache)


def shared_answers(
    settings: Settings,
    config: CacheConfig,
    store: RedisStore,
    lasting: Lasting,
    rows: Mapping[str, Row],
) -> SharedCache:
    """Answers in that Redis, of the backends that there are now."""
    secret = settings.secrets.cache

    def version(name: str) -> str | None:
        row = rows.get(name)
        return None if row is None else f"{row.backend.spec.model}\n{row.backend.spec.version}"

    return SharedCache(
        config,
        store,
        lasting.cache_secret if secret is None else secret.encode(),
        version,
        named=is_named,
        heard=lasting.metrics.on_shared_cache,
    )

"""What is allowed and yet hardly meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from hybridge.budget.prices import Prices
from hybridge.cloud.config import CloudBackendConfig
from hybridge.cloud.providers import PROVIDERS
from hybridge.cloud.transport import is_loopback
from hybridge.core.backend import Price
from hybridge.edge.config import EdgeBackendConfig
from hybridge.settings import schema
from hybridge.settings.checks import Finding
from hybridge.settings.problems import Problem
from hybridge.settings.reading import Reading
from hybridge.settings.settings import Settings

RULES = "routing_rules.json"
"""What a file of routing rules is usually called."""


def warnings(reading: Reading, settings: Settings) -> tuple[Problem, ...]:
    """Everything worth a second look in settings that can be used, each with its place."""
    found = [
        *_cycles(settings),
        *_unpriced(settings),
        *_keyless(settings, reading.is_set),
        *_absent_weights(settings),
        *_unused_rules(settings, reading.folder),
        *_sharing(settings),
        *_deprecated(reading),
    ]
    return tuple(reading.problem(loc, what) for loc, what in found)


def _cycles(settings: Settings) -> Iterator[Finding]:
    """B asks A where A asks B: allowed, for each is asked once, but the list reads as if not."""
    fallbacks = _by_backend(settings)
    told: set[frozenset[str]] = set()
    for key, name in _owners(settings):
        if fallbacks[name] is not settings.routing.fallbacks[key]:
            continue
        cycle = _way_back(name, fallbacks)
        if cycle and frozenset(cycle) not in told:
            told.add(frozenset(cycle))
            way = " -> ".join((*cycle, name))
            what = "is a circle; a request asks nobody but the backends in its own model's list"
            yield ("routing", "fallbacks", key), f"{way} {what}, each once"


def _owners(settings: Settings) -> Iterator[tuple[str, str]]:
    """The keys of `routing.fallbacks`, each with the backend it is for."""
    rows: list[EdgeBackendConfig | CloudBackendConfig] = []
    rows += [*settings.edge.backends, *settings.cloud.backends]
    of_models = {row.model: row.name for row in reversed(rows)}
    for key in settings.routing.fallbacks:
        yield key, of_models.get(key, key) if key not in {row.name for row in rows} else key


def _by_backend(settings: Settings) -> Mapping[str, Sequence[str]]:
    """What is configured under a backend's own name outweighs what is under its model's."""
    fallbacks = settings.routing.fallbacks
    return {name: fallbacks[key] for key, name in _owners(settings)} | fallbacks


def _way_back(name: str, fallbacks: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """The shortest way along fallbacks from a backend to itself, without its end."""
    ways: list[tuple[str, ...]] = [(name,)]
    seen = {name}
    while ways:
        way = ways.pop(0)
        for other in fallbacks.get(way[-1], ()):
            if other == name:
                return way
            if other not in seen:
                seen.add(other)
                ways.append((*way, other))
    return None


def _unpriced(settings: Settings) -> Iterator[Finding]:
    prices = Prices()
    for index, row in enumerate(settings.cloud.backends):
        if row.price == "auto" and _listed(row, prices) is None:
            what = f"no price is known for `{row.model}`, so its cost is unknown; set `price`"
            yield ("cloud", "backends", index, "model"), what


def _listed(row: CloudBackendConfig, prices: Prices) -> Price | None:
    provider = PROVIDERS[row.provider]
    return prices.find(provider.priced_as or provider.name, row.model)


def _keyless(settings: Settings, is_set: Callable[[str], bool]) -> Iterator[Finding]:
    for index, row in enumerate(settings.cloud.backends):
        usual = PROVIDERS[row.provider].key_env
        if row.base_url or row.api_key_env or usual is None or is_set(usual):
            continue
        yield (
            ("cloud", "backends", index),
            f"environment variable {usual} is not set: `{row.name}` is asked without a key",
        )


def _absent_weights(settings: Settings) -> Iterator[Finding]:
    for index, row in enumerate(settings.edge.backends):
        if row.model.endswith(".gguf") and not Path(row.model).is_file():
            yield ("edge", "backends", index, "model"), f"there is no file {row.model} here"


def _unused_rules(settings: Settings, folder: Path) -> Iterator[Finding]:
    beside = folder / RULES
    if settings.routing.rules is None and beside.is_file():
        yield ("routing",), f"{beside} is not used; name it in `routing.rules`"


def _sharing(settings: Settings) -> Iterator[Finding]:
    """A shared cache that shares nothing, or is open to whoever listens."""
    cache, url = settings.cache, settings.state.redis_url
    if cache is None or cache.store == "memory":
        if url is not None:
            yield ("state", "redis_url"), "is not used; `cache.store: redis` would use it"
        return
    if cache.key_env is None:
        what = "without `key_env` each process finds its own answers only, until it ends"
        yield ("cache", "store"), what
    if url is not None and url.startswith("redis:") and not is_loopback(url):
        yield ("state", "redis_url"), "answers travel to it unencrypted; `rediss://` encrypts them"


def _deprecated(reading: Reading) -> Iterator[Finding]:
    """Keys that still work and will go; a field says so itself, with `deprecated`."""
    for loc in reading.set_keys():
        field = schema.field(Settings, loc)
        if field is not None and field.deprecation_message:
            yield loc, f"deprecated: {field.deprecation_message}"

"""Rules that hold between keys, not for one alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from ipaddress import ip_address

from hybridge.budget.ledger import JUDGE
from hybridge.cache.config import CacheConfig
from hybridge.cloud.config import CloudBackendConfig, CloudConfig
from hybridge.cloud.providers import Provider
from hybridge.core.request import AUTO, Feature
from hybridge.edge.config import EdgeConfig
from hybridge.edge.embedder_config import EmbedderConfig, EmbeddingsConfig
from hybridge.learning.config import LearningConfig
from hybridge.routing.config import SAMPLE, RoutingConfig
from hybridge.server.config import ServerConfig
from hybridge.settings.problems import Loc, dotted
from hybridge.storage.config import StateConfig
from hybridge.telemetry.alerts.config import AlertsConfig
from hybridge.telemetry.config import TelemetryConfig

Finding = tuple[Loc, str]
OTEL = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.common")
"""Modules of the extra `otel`."""
_WAY_OUT = "add server.api_keys, e.g. [{name: me, key_env: MY_KEY}], or listen on 127.0.0.1"


def check_server(server: ServerConfig) -> Iterator[Finding]:
    """Without keys only this machine may ask (R72); tenants have names of their own."""
    if not server.api_keys and not _is_loopback(server.host):
        yield (
            ("server", "host"),
            f"{server.host} can be reached from other machines, so API keys are needed; {_WAY_OUT}",
        )
    seen: dict[str, Loc] = {JUDGE: ("learning", "judge", "budget")}
    for index, row in enumerate(server.api_keys):
        yield from _twice(seen, row.name, ("server", "api_keys", index, "name"))


def check_backends(
    edge: EdgeConfig,
    cloud: CloudConfig,
    embeddings: EmbeddingsConfig,
    providers: Mapping[str, Provider],
) -> Iterator[Finding]:
    """Names are unique over both tiers, none is `auto`; providers and features exist."""
    seen: dict[str, Loc] = {}
    names: list[tuple[Loc, str]] = [
        *((("edge", "backends", i, "name"), row.name) for i, row in enumerate(edge.backends)),
        *((("cloud", "backends", i, "name"), row.name) for i, row in enumerate(cloud.backends)),
        *(
            (("embeddings", "backends", i, "name"), row.name)
            for i, row in enumerate(embeddings.backends)
        ),
    ]
    for loc, name in names:
        if name == AUTO:
            yield loc, f"`{AUTO}` is the name that leaves the choice to the router"
        yield from _twice(seen, name, loc)
    for index, backend in enumerate(cloud.backends):
        yield from _check_provider(backend, ("cloud", "backends", index), providers)
    for index, embedder in enumerate(embeddings.backends):
        if embedder.engine == "openai":
            yield from _check_provider(embedder, ("embeddings", "backends", index), providers)
    for index, local in enumerate(edge.backends):
        yield from _check_features(local.features, ("edge", "backends", index, "features"))
    for index, far in enumerate(cloud.backends):
        yield from _check_features(far.features, ("cloud", "backends", index, "features"))


def check_fallbacks(
    routing: RoutingConfig, edge: EdgeConfig, cloud: CloudConfig
) -> Iterator[Finding]:
    """Fallbacks are for backends that exist, or their models, and to backends that exist."""
    names = [*(row.name for row in edge.backends), *(row.name for row in cloud.backends)]
    models = [*(row.model for row in edge.backends), *(row.model for row in cloud.backends)]
    for name, others in routing.fallbacks.items():
        if name not in (*names, *models):
            yield ("routing", "fallbacks", name), _no_backend(name, names)
        for index, other in enumerate(others):
            if other not in names:
                yield ("routing", "fallbacks", name, index), _no_backend(other, names)


def check_second_opinion(routing: RoutingConfig, edge: EdgeConfig) -> Iterator[Finding]:
    """A second opinion is a sample, or that of an edge backend that exists."""
    second, names = routing.second_opinion, [row.name for row in edge.backends]
    if second is not None and second.by not in (SAMPLE, *names):
        known = "".join(f", `{name}`" for name in sorted(names))
        what = f"no edge backend `{second.by}`; there are: `{SAMPLE}` (the same once more){known}"
        yield ("routing", "second_opinion", "by"), what


def check_judge(learning: LearningConfig, cloud: CloudConfig) -> Iterator[Finding]:
    """A judge is a cloud that exists."""
    names = [row.name for row in cloud.backends]
    if learning.judge is not None and learning.judge.backend not in names:
        known = f"there are: {', '.join(sorted(names))}" if names else "add one to cloud.backends"
        what = f"no cloud backend `{learning.judge.backend}`; {known}"
        yield ("learning", "judge", "backend"), what


def check_cache(cache: CacheConfig | None, state: StateConfig) -> Iterator[Finding]:
    """A shared cache has a place to be in."""
    if cache is not None and cache.store == "redis" and state.redis_url is None:
        what = "`redis` needs an address: set state.redis_url, e.g. redis://localhost:6379/0"
        yield ("cache", "store"), what


def check_telemetry(alerts: AlertsConfig, telemetry: TelemetryConfig) -> Iterator[Finding]:
    """Webhooks have names of their own; traces need what an extra brings along."""
    seen: dict[str, Loc] = {}
    for index, row in enumerate(alerts.webhooks):
        yield from _twice(seen, row.name, ("alerts", "webhooks", index, "name"))
    if telemetry.otlp_endpoint is not None and not _installed(*OTEL):
        yield ("telemetry", "otlp_endpoint"), 'needs an extra: pip install "hybridge[otel]"'


def _check_provider(
    row: CloudBackendConfig | EmbedderConfig, loc: Loc, providers: Mapping[str, Provider]
) -> Iterator[Finding]:
    provider = providers.get(row.provider)
    if provider is None:
        yield (*loc, "provider"), f"must be one of {', '.join(sorted(providers))}"
    elif not (row.base_url or provider.base_url):
        yield loc, f"provider `{row.provider}` has no address of its own: add base_url"


def _check_features(features: Iterable[str] | None, loc: Loc) -> Iterator[Finding]:
    known = {feature.value for feature in Feature}
    for index, name in enumerate(features or ()):
        if name not in known:
            yield (*loc, index), f"unknown feature `{name}`; there are {', '.join(sorted(known))}"


def _no_backend(name: str, known: Iterable[str]) -> str:
    return f"no backend `{name}`; there are: {', '.join(sorted(known))}"


def _twice(seen: dict[str, Loc], name: str, loc: Loc) -> Iterator[Finding]:
    if name in seen:
        yield loc, f"`{name}` is taken already, by {dotted(seen[name][:-1])}"
    seen.setdefault(name, loc)


def _installed(*modules: str) -> bool:
    try:
        return all(find_spec(module) is not None for module in modules)
    except ModuleNotFoundError:  # what it lies in is missing
        return False


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

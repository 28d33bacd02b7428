"""Which layers cost most: each is quantised alone, all others stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from tokenizers import Tokenizer

from hybridge.pipeline.graph_runner import GraphRunner, Rows, cosines
from hybridge.pipeline.quantising.integers import Feed, Recipe, candidates, quantise


class Culprit(Struct, frozen=True):
    """A layer, and what it costs alone."""

    node: str
    harm: float
    """1 - mean cosine to FP32, when no other layer is quantised."""


def rank(
    graph: Path,
    recipe: Recipe,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    fp32: Rows,
    *,
    work: Path,
    calibration: Sequence[Feed] = (),
    most: int,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[Culprit]:
    """All layers that the recipe quantises, the worst first. Takes a second or two for each."""
    names = [name for name in candidates(graph) if name not in recipe.exclude]
    found = []
    for done, name in enumerate(names, start=1):
        one = work / "one.onnx"
        quantise(graph, one, recipe, calibration, only=[name])
        rows = GraphRunner(one, tokenizer, most=most).rows(texts)
        found.append(Culprit(name, round(float(1 - cosines(fp32, rows).mean()), 6)))
        advance(done, len(names))
    return sorted(found, key=lambda culprit: -culprit.harm)

"""`hybridge models quantize`: an ONNX model to INT8, or a GGUF file through llama.cpp."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli import EXIT_FAILED
from hybridge.cli.models.extra import need
from hybridge.cli.options import Json

if TYPE_CHECKING:
    from hybridge.pipeline.quantising.culprits import Culprit
    from hybridge.pipeline.quantising.quantise import Quantised, Worst

SHOWN = 5
"""Layers that a refusal names."""
HARM_SHARE = 0.9
"""A refusal's command excludes at most the layers that together do this share of the harm."""


class Mode(StrEnum):
    """When the activations' ranges are measured."""

    dynamic = "dynamic"
    static = "static"


class Embeddings(StrEnum):
    """What the embedding tables become."""

    int4 = "int4"
    int8 = "int8"
    float = "float"


def quantize(
    source: Annotated[
        Path, typer.Argument(help="A folder with model.onnx and tokenizer.json, or a .gguf file.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder, or a new .gguf file.")],
    mode: Annotated[
        Mode,
        typer.Option(help="Ranges of activations: measured at run time, or once beforehand."),
    ] = Mode.dynamic,
    embeddings: Annotated[
        Embeddings, typer.Option(help="Embedding tables; int4 in blocks of 16.")
    ] = Embeddings.int4,
    calibration: Annotated[
        Path | None, typer.Option(help="Static: JSONL with `text`. Default: 64 texts of ours.")
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(help="JSONL with `text`, `label`, perhaps `language`. Default: ours."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="A layer that stays in 32 bits; may be repeated.")
    ] = None,
    exclude_worst: Annotated[
        str | None,
        typer.Option(metavar="N|auto", help="As many of the most costly layers; auto: it tries."),
    ] = None,
    kind: Annotated[
        str, typer.Option("--type", help="GGUF: the type that llama.cpp is to write.")
    ] = "Q4_K_M",
    requantize: Annotated[
        bool, typer.Option("--requantize", help="GGUF: from weights quantised already.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Quantises, and measures size and accuracy on the same test. More than one point lost is
    refused (exit code 1), and the layers that cost most are named."""
    if source.suffix == ".gguf":
        _gguf(source, out, kind, requantize, as_json)
        return
    need("onnx", "onnxscript")
    from hybridge.pipeline.quantising.integers import Recipe
    from hybridge.pipeline.quantising.quantise import run

    recipe = Recipe(mode.value, embeddings.value, tuple(exclude or ()))
    done = run(
        source,
        out,
        recipe,
        test=test,
        calibration=calibration,
        worst=_worst(exclude_worst),
        step=_say,
    )
    if as_json:
        import msgspec

        extra = {"ratio": round(done.ratio, 4), "loss": done.verdict.loss}
        typer.echo(msgspec.json.encode(msgspec.to_builtins(done) | extra).decode())
    else:
        _table(done)
    if not done.written:
        print(_refusal(done, sys.argv[1:]), file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)


def _worst(said: str | None) -> Worst:
    if said is None or said == "auto":
        return "auto" if said else None
    if not said.isdecimal() or int(said) == 0:
        raise typer.BadParameter("a number from 1 on, or auto", param_hint="--exclude-worst")
    return int(said)


def _gguf(source: Path, out: Path, kind: str, again: bool, as_json: bool) -> None:
    from hybridge.cli.progress import counting
    from hybridge.pipeline.gguf import quantise

    with counting(f"quantising {source.name}", None) as count:
        done = quantise(source, out, kind, again=again, advance=lambda *_: count())
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(done).decode())
        return
    sizes = f"{done.before_bytes / 1e6:.1f} MB -> {done.after_bytes / 1e6:.1f} MB"
    typer.echo(f"{done.out}: {done.type}, {sizes}")
    if done.fallbacks:
        typer.echo(f"{done.fallbacks} tensors got another type: their rows do not fit {done.type}")


def _say(said: str) -> None:
    print(f"{said} ...", file=sys.stderr, flush=True)


def _table(done: Quantised) -> None:
    from rich.console import Console
    from rich.table import Table

    verdict = done.verdict
    table = Table("texts", "n", "FP32", "INT8", "lost", "cosine", "smallest", title=verdict.test)
    for name, one in {**verdict.languages, "all": verdict.all}.items():
        accuracy = (f"{one.fp32:.1f} %", f"{one.int8:.1f} %", f"{one.loss:+.1f}")
        table.add_row(name, str(one.texts), *accuracy, f"{one.cosine:.4f}", f"{one.cosine_min:.4f}")
    console = Console()
    console.print(table)
    sizes = f"{done.fp32_bytes / 1e6:.1f} MB -> {done.int8_bytes / 1e6:.1f} MB"
    console.print(f"{sizes}, {done.ratio:.3f} of FP32")
    if done.recipe.exclude:
        console.print("left in 32 bits: " + ", ".join(done.recipe.exclude), soft_wrap=True)
    if done.written:
        console.print(f"written to {done.out}", soft_wrap=True)


def _refusal(done: Quantised, arguments: list[str]) -> str:
    lost = f"refused: {done.verdict.loss:.1f} points lost, at most 1 is allowed; nothing written."
    if not done.culprits:
        return lost
    worst = done.culprits[:SHOWN]
    listed = "".join(f"\n  {one.node}: cosine falls by {one.harm:.4f}" for one in worst)
    excluded = " ".join(f"--exclude {shlex.quote(one.node)}" for one in _guilty(done))
    again = f"hybridge {shlex.join(_without_worst(arguments))} {excluded}"
    return (
        f"{lost} The layers that cost most, each alone:{listed}\n"
        f"Without them: {again}\nOr let it find the fewest: --exclude-worst auto"
    )


def _guilty(done: Quantised) -> list[Culprit]:
    """The shown layers, without those that hardly matter."""
    total, so_far = sum(one.harm for one in done.culprits), 0.0
    found: list[Culprit] = []
    for one in done.culprits[:SHOWN]:
        if so_far >= HARM_SHARE * total and found:
            break
        so_far += one.harm
        found.append(one)
    return found


def _without_worst(arguments: list[str]) -> list[str]:
    kept, skip = [], False
    for argument in arguments:
        if not skip and not argument.startswith("--exclude-worst"):
            kept.append(argument)
        skip = argument == "--exclude-worst"
    return kept

"""`hybridge models export`: a sentence encoder or classifier from PyTorch to ONNX."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli.models.extra import need
from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.pipeline.exporting.export import Exported


class Engine(StrEnum):
    """What the export is for."""

    onnx = "onnx"
    ortgenai = "ortgenai"


class Precision(StrEnum):
    """Of a language model's weights."""

    int4 = "int4"
    int8 = "int8"
    fp32 = "fp32"


class Pooling(StrEnum):
    """How token vectors become one."""

    mean = "mean"
    cls = "cls"


def export(
    source: Annotated[
        str, typer.Argument(help="A folder in Hugging Face's layout, or a hub id: owner/name.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder for the ONNX model.")],
    engine: Annotated[
        Engine,
        typer.Option(help="`onnx`: an encoder or a classifier; `ortgenai`: a language model."),
    ] = Engine.onnx,
    precision: Annotated[
        Precision, typer.Option(help="Engine `ortgenai`: of the weights.")
    ] = Precision.int8,
    pooling: Annotated[
        Pooling | None,
        typer.Option(help="Instead of what the folder says; else mean."),
    ] = None,
    revision: Annotated[
        str, typer.Option(help="Branch, tag or commit of a model from the hub.")
    ] = "main",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Exports to ONNX, optimises the graph, and holds it against PyTorch: more than a rounding
    error apart is refused. With `--engine ortgenai` it is a language model, from such a folder or
    a .gguf file, for the engine of that name."""
    if engine is Engine.ortgenai:
        _export_genai(Path(source), out, precision, as_json)
        return
    need("torch", "transformers", "onnx", "onnxscript")
    from hybridge.pipeline.destination import check_free
    from hybridge.pipeline.exporting.export import export as run

    check_free(out)
    with _folder(source, revision, config) as (folder, name):
        done = run(folder, out, source=name, pooling=pooling.value if pooling else None, step=_say)
    _tell(done, as_json)


def _export_genai(model: Path, out: Path, precision: Precision, as_json: bool) -> None:
    from hybridge.pipeline.export_genai import export as run

    _say(f"making an {precision.value} model of {model}, which takes minutes")
    made = run(model, out, precision.value)
    size = sum(file.stat().st_size for file in made.iterdir())
    if as_json:
        import msgspec

        told = {"out": str(made), "precision": precision.value, "bytes": size}
        typer.echo(msgspec.json.encode(told).decode())
        return
    typer.echo(f"{made}: {size / 1e6:.0f} MB\nnext: engine: ortgenai, model: {made}")


@contextmanager
def _folder(source: str, revision: str, config: Path | None) -> Iterator[tuple[Path, str]]:
    """The model's folder, and what to call it."""
    from hybridge.core.errors import ConfigError
    from hybridge.edge.hub_folder import REPOSITORY, fetch_folder

    if (place := Path(source)).is_dir():
        yield place, place.resolve().name
        return
    if not REPOSITORY.match(source):
        raise ConfigError(f"there is no folder {source}, nor is that a hub id like owner/name")
    from hybridge import wiring
    from hybridge.cli.progress import downloading

    hub = wiring.hub(settings_of(config))
    with TemporaryDirectory(prefix="hybridge-") as folder:
        with downloading(f"fetching {source}") as advance:
            commit = fetch_folder(hub, source, Path(folder), revision=revision, progress=advance)
        yield Path(folder), f"{source}@{commit}"


def _say(said: str) -> None:
    print(f"{said} ...", file=sys.stderr, flush=True)


def _tell(done: Exported, as_json: bool) -> None:
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(done).decode())
        return
    pooled = f", pooling {done.pooling}" if done.pooling else ""
    typer.echo(
        f"{done.out}/model.onnx: {done.kind}, output `{done.output}`{pooled}, "
        f"{done.graph_bytes / 1e6:.1f} MB\n"
        f"against PyTorch on {done.parity.texts} texts: largest difference "
        f"{done.parity.max_abs_difference:.1e}, smallest cosine {done.parity.min_cosine:.6f}\n"
        f"next: hybridge models quantize {done.out} --out {done.out}-int8"
    )

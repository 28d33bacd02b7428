"""`hybridge models bench`: what this machine makes of a model, by many settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hybridge.cli.models import bench_encoder, bench_llm
from hybridge.cli.options import Config, Json, settings_of

if TYPE_CHECKING:
    from hybridge.wiring.contest import Subject


def bench(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A .gguf file, a folder with genai_config.json, a folder with .onnx files and "
            "tokenizer.json, or a name from `hybridge models list`. Default: the scorer's encoder."
        ),
    ] = None,
    genai: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The same LLM for engine `ortgenai`. Default: folders beside the .gguf file that "
            "are called like it, with -int4, -int8 or -fp32 behind.",
        ),
    ] = None,
    config: Config = None,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=3600.0, help="Time to spend, loading not counted.")
    ] = 30.0,
    as_json: Json = False,
) -> None:
    """Times a model by threads, batches, precisions, engines, and proposes settings."""
    found = None if model is None else _subject(model, config)
    if found is not None and found.is_llm:
        bench_llm.run(found, genai, seconds, as_json=as_json)
    elif genai is not None:
        raise typer.BadParameter("belongs to a .gguf model", param_hint="--genai")
    else:
        bench_encoder.run(None if found is None else found.place, seconds, as_json=as_json)


def _subject(model: str, config: Path | None) -> Subject:
    from hybridge import wiring
    from hybridge.cli.progress import downloading

    with downloading(f"fetching {model}") as advance:
        return wiring.subject(model, settings_of(config), advance)

"""A model to quantise: a folder with an ONNX file and its tokenizer."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from hybridge.core.errors import ConfigError
from hybridge.pipeline.exporting.folder import Kind, describe

PLACES = ("model.onnx", "onnx/model.onnx")


class Source(Struct, frozen=True):
    """Where its parts are."""

    folder: Path
    graph: Path
    tokenizer: Path
    kind: Kind


def find(folder: Path) -> Source:
    """Raises `ConfigError` that says what is missing, `ModelError` for a folder that is odd."""
    graph = next((folder / place for place in PLACES if (folder / place).is_file()), None)
    if graph is None:
        raise ConfigError(
            f"there is no {folder / PLACES[0]}: `hybridge models export` makes one from PyTorch"
        )
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ConfigError(f"there is no {tokenizer}")
    kind = describe(folder).kind if (folder / "config.json").is_file() else "encoder"
    return Source(folder, graph, tokenizer, kind)

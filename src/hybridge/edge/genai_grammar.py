"""Answers held to a grammar, by llguidance itself.

ONNX Runtime GenAI has llguidance inside as well (`set_guidance`). But it spells out what a grammar
forces with a tokenizer of its own, which takes half a character for U+FFFD: no schema with Chinese
names could be kept (version 0.18).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KNOWN = 256
"""So many verdicts on grammars are remembered."""


class Held:
    """One answer that keeps to a grammar."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def allowed(self, count: int) -> NDArray[np.bool_]:
        """Which of `count` tokens may come next."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        allowed = np.zeros(count, np.bool_)  # logits may be more than there are tokens
        found = np.unpackbits(bits, bitorder="little")[:count]
        allowed[: len(found)] = found
        self._check()
        return allowed

    def take(self, token: int) -> None:
        """The token came. Raises `RuntimeError` where the grammar grew too large to go on."""
        self._matcher.consume_token(token)
        self._check()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise RuntimeError(f"the grammar cannot be kept: {self._matcher.get_error()}")


class Grammars:
    """What can be read for one vocabulary."""

    def __init__(self, tokenizer: Path, ends: Sequence[int]) -> None:
        """`tokenizer` is a `tokenizer.json`, `ends` are the tokens that end an answer."""
        self._llguidance = import_module("llguidance")
        text = tokenizer.read_text(encoding="utf-8")
        self._tokenizer = self._llguidance.LLTokenizer(text, eos_token=list(ends) or None)
        self._readable: dict[str, bool] = {}

    def reads(self, grammar: str) -> bool:
        """Whether an answer can be held to it."""
        if (known := self._readable.get(grammar)) is not None:
            return known
        if len(self._readable) >= _KNOWN:
            self._readable.clear()
        wrong = self._llguidance.LLMatcher.validate_grammar(grammar, self._tokenizer)
        self._readable[grammar] = not wrong
        return not wrong

    def held(self, grammar: str) -> Held:
        """An answer at its beginning."""
        return Held(self._llguidance.LLMatcher(self._tokenizer, grammar, log_level=0))

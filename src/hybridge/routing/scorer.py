"""The score of a request (R2): how probably a small model's answer is not good enough."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hybridge.core.plan import Score
from hybridge.routing.facts import Facts
from hybridge.routing.head import Head, legible

CHARS_PER_TOKEN = 4
"""Of English; Chinese history is measured in the same unit through its tokens."""
CONTEXT_TOKENS_MAX = 1000
"""A long conversation makes a question harder, but not without end."""


class Encoder(Protocol):
    """A sentence encoder; `hybridge.edge.encoder.Encoder` is one."""

    async def embed(self, text: str, timeout_s: float) -> NDArray[np.float32] | None:
        """A vector of unit length, or None when it would come later than `timeout_s` seconds."""
        ...


class Scorer(Protocol):
    """Scores requests on this device; no network call, ever."""

    async def score(self, facts: Facts) -> Score:
        """May raise; planning then goes on without a score."""
        ...


class HeadScorer:
    """The shipped scorer: a trained head on text features, n-grams and a sentence embedding.

    The embedding has a deadline. When it is late, or there is no encoder, or the text is one that
    the encoder cannot read, the text head speaks alone, and the score says so.
    """

    def __init__(self, head: Head, encoder: Encoder | None, *, timeout_s: float) -> None:
        self._head = head
        self._encoder = encoder
        self._timeout_s = timeout_s

    async def score(self, facts: Facts) -> Score:
        """Of the last user turn, whole, however long; what was said before adds length."""
        started_s = time.perf_counter()
        embedding = await self._embed(facts.text)
        said = self._head.predict(facts.text, embedding, context_chars=_before(facts))
        return Score(
            p=said.p,
            source="prior" if said.used_embedding else "prior-text",
            version=self._head.version,
            reasons=said.reasons,
            took_ms=1000 * (time.perf_counter() - started_s),
        )

    async def _embed(self, text: str) -> NDArray[np.float32] | None:
        if self._encoder is None or not legible(text):
            return None
        return await self._encoder.embed(text, self._timeout_s)


def _before(facts: Facts) -> int:
    """Characters of a conversation's earlier part, roughly. A system text alone is no history."""
    tokens = max(0, facts.prompt_tokens - facts.tokens) if facts.turns > 1 else 0
    return CHARS_PER_TOKEN * min(tokens, CONTEXT_TOKENS_MAX)

"""The score of a request (R2): how probably a small model's answer is not good enough."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hybridge.core.plan import Score
from hybridge.routing.facts import Facts
from hybridge.routing.head import CJK_SHARE_MAX, Head


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
        """The score of the last user turn, whole, however long."""
        started_s = time.perf_counter()
        embedding = await self._embed(facts.text)
        said = self._head.predict(facts.text, embedding)
        return Score(
            p=said.p,
            source="prior" if said.used_embedding else "prior-text",
            version=self._head.version,
            reasons=said.reasons,
            took_ms=1000 * (time.perf_counter() - started_s),
        )

    async def _embed(self, text: str) -> NDArray[np.float32] | None:
        if self._encoder is None or not _readable(text):
            return None
        return await self._encoder.embed(text, self._timeout_s)


def _readable(text: str) -> bool:
    """Whether the encoder knows enough of the text; it takes Chinese for unknown tokens."""
    beginning = text[:1000]
    chinese = sum("\u3400" <= character <= "\u9fff" for character in beginning)
    return 0 < len(beginning) and chinese <= CJK_SHARE_MAX * len(beginning)

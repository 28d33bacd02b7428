"""The score of a request (R2): how probably a small model's answer is not good enough."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from hybridge.core.plan import Score
from hybridge.learning.evidence import Pair
from hybridge.routing.adaptation import Adaptation
from hybridge.routing.facts import Facts
from hybridge.routing.head import Head, Vector, Wording, read
from hybridge.routing.speaking import Word, adapted_word
from hybridge.routing.view import view

CHARS_PER_TOKEN = 4
"""Of English; Chinese history is measured in the same unit through its tokens."""
CONTEXT_TOKENS_MAX = 1000
"""A long conversation makes a question harder, but not without end."""
RESERVE_S = 0.006
"""Kept of the time for what comes after the encoder, and for a turn of the event loop."""


class Encoder(Protocol):
    """A sentence encoder; `hybridge.edge.encoder.Encoder` is one."""

    async def embed(self, text: str, timeout_s: float) -> Vector | None:
        """A vector of unit length, or None when it would come later than `timeout_s` seconds."""
        ...


class Scorer(Protocol):
    """Scores requests on this device; no network call, ever."""

    async def score(self, facts: Facts, pair: Pair | None = None) -> Score:
        """`pair`: the models that it is about, as far as that is known by now. May raise; planning
        then goes on without a score."""
        ...


def unadapted(_pair: Pair | None) -> Adaptation | None:
    """Nothing has been learned about any pair."""
    return None


Adapted = Callable[[Pair | None], Adaptation | None]
"""What has been learned about a pair, or about any."""


class HeadScorer:
    """The shipped scorer: a trained head on text features, n-grams and a sentence embedding.

    The score has a deadline, `timeout_s`. The text is read while the encoder works, and the encoder
    is waited for as long as there is time left. When it is late, or there is none, or there is no
    text, the text head speaks alone, and the score says so.
    """

    def __init__(
        self,
        head: Head,
        encoder: Encoder | None,
        *,
        timeout_s: float,
        adapted: Adapted = unadapted,
    ) -> None:
        """`adapted` tells what was learned about a pair of models."""
        self._head = head
        self._encoder = encoder
        self._wait_s = timeout_s - min(RESERVE_S, timeout_s / 4)
        self._adapted = adapted

    async def score(self, facts: Facts, pair: Pair | None = None) -> Score:
        """Of the last user turn, whole, however long; what was said before adds length."""
        started_s = time.perf_counter()
        said, embedding = await self._read(facts, started_s + self._wait_s)
        return self._score(facts, pair, said, embedding, started_s)

    def score_read(self, facts: Facts, pair: Pair | None, embedding: Vector | None) -> Score:
        """The same of a text whose embedding is there already, however long it took."""
        started_s = time.perf_counter()
        said = read(facts.text, _before(facts))
        return self._score(facts, pair, said, embedding, started_s)

    def _score(
        self,
        facts: Facts,
        pair: Pair | None,
        said: Wording,
        embedding: Vector | None,
        started_s: float,
    ) -> Score:
        told = self._head.judge(said, embedding)
        source = "prior" if told.used_embedding else "prior-text"
        word = Word(told.p, source, self._head.version, told.reasons)
        known = self._adapted(pair)
        if known is not None and known.head == self._head.version:
            vector = embedding if told.used_embedding else None
            word = adapted_word(word, known, self._head, said, vector, facts.task)
        took_ms = 1000 * (time.perf_counter() - started_s)
        return Score(word.p, word.source, word.version, word.reasons, took_ms)

    async def seen(self, facts: Facts, timeout_s: float) -> Vector | None:
        """The view of a request, for the record; None where the encoder is too late for it."""
        said, embedding = await self._read(facts, time.perf_counter() + timeout_s)
        if embedding is None and self._encoder is not None and facts.text:
            return None
        return view(self._head, said, embedding, self._head.judge(said, embedding).p)

    @property
    def version(self) -> str:
        """Of the head that views are of."""
        return self._head.version

    async def _read(self, facts: Facts, deadline_s: float) -> tuple[Wording, Vector | None]:
        """The text, and its embedding if that is there by the deadline."""
        if self._encoder is None or not facts.text:
            return read(facts.text, _before(facts)), None
        async with _started(self._encoder, facts.text, deadline_s) as embedding:
            said = read(facts.text, _before(facts))
            await asyncio.wait({embedding}, timeout=_left(deadline_s))
            return said, embedding.result() if embedding.done() else None


@asynccontextmanager
async def _started(
    encoder: Encoder, text: str, deadline_s: float
) -> AsyncIterator[asyncio.Task[Vector | None]]:
    """The embedding under way; what nobody waits for any more is cancelled."""
    task = asyncio.create_task(encoder.embed(text, _left(deadline_s)))
    try:
        await asyncio.sleep(0)  # the encoder's thread gets its text before this one reads it
        yield task
    finally:
        task.cancel()


def _left(deadline_s: float) -> float:
    return max(0.0, deadline_s - time.perf_counter())


def _before(facts: Facts) -> int:
    """Characters of a conversation's earlier part, roughly. A system text alone is no history."""
    tokens = max(0, facts.prompt_tokens - facts.tokens) if facts.turns > 1 else 0
    return CHARS_PER_TOKEN * min(tokens, CONTEXT_TOKENS_MAX)

"""Embeddings on this device, beside the scorer and never in its way (R55, R70)."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np
import onnxruntime as ort

from hybridge.core.embedding import (
    Embedded,
    EmbedderSpec,
    EmbeddingCall,
    EmbeddingRequest,
    Vectors,
)
from hybridge.core.errors import BackendError, Fault, HybridgeError, Unsupported
from hybridge.core.response import Usage
from hybridge.edge.sentence_model import Reading, SentenceModel

T = TypeVar("T")

NICE = 10
"""How far the thread stands back, so that the scorer and the event loop have the cores first."""
READ_AT_ONCE = 16
"""Texts that the tokenizer gets in one go."""
UNKNOWN_MAX = 0.5
"""Share of unknown tokens above which a vector would say nothing of its text."""


class OnnxEmbedder:
    """Implements `core.embedding.Embedder` in a thread of its own.

    Requests take turns, a few texts at a time, so that a long one does not hold up a short one.
    The queue is bounded; work that nobody waits for any more is stopped in the middle.
    """

    def __init__(
        self, spec: EmbedderSpec, load: Callable[[], SentenceModel], *, batch: int, queue: int
    ) -> None:
        """`load` is called in the thread, when the first text comes or `load` says so."""
        self._spec = spec
        self._load = load
        self._batch = batch
        self._queue = queue
        self._model: SentenceModel | None = None
        self._turn = asyncio.Lock()
        self._under_way = 0
        self._thread = ThreadPoolExecutor(
            1, thread_name_prefix=f"embedder-{spec.name}", initializer=_stand_back
        )

    @property
    def spec(self) -> EmbedderSpec:
        return self._spec

    async def load(self) -> None:
        """Loads the model now. Raises `ModelError`."""
        await self._in_turn(lambda _: self._ready())

    async def embed(self, call: EmbeddingCall) -> Embedded:
        """See `Embedder`. Raises BUSY when the queue is full; every text is read before the first
        vector is computed."""
        if self._under_way >= self._queue:
            raise self._failed("its queue is full", Fault.BUSY, retry_after_s=1.0)
        self._under_way += 1
        try:
            async with asyncio.timeout(call.deadline.remaining_s):
                return await self._embedded(call.asked)
        except TimeoutError as late:
            raise self._failed("did not finish in time", Fault.TIMEOUT) from late
        except HybridgeError:
            raise
        except Exception as error:  # whatever ONNX Runtime raises
            raise self._failed(f"failed: {type(error).__name__}", Fault.SERVER) from error
        finally:
            self._under_way -= 1

    def close(self) -> None:
        """Waits for the piece under way; the others are dropped."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _embedded(self, asked: EmbeddingRequest) -> Embedded:
        readings = await self._read(asked)
        vectors = await self._run([reading.ids for reading in readings])
        if not np.isfinite(vectors).all():
            raise self._failed("gave numbers that are not finite", Fault.SERVER)
        tokens = sum(reading.tokens for reading in readings)
        return Embedded(vectors, self._spec.model, Usage(tokens, 0))

    async def _read(self, asked: EmbeddingRequest) -> list[Reading]:
        """All texts as the model sees them. Raises `Unsupported` for one that it cannot take."""
        readings: list[Reading] = []
        for texts in _pieces(asked.texts, READ_AT_ONCE):
            for reading in await self._in_turn(partial(self._look_at, texts)):
                self._check(reading, asked.place(len(readings)))
                readings.append(reading)
        return readings

    async def _run(self, texts: Sequence[tuple[int, ...]]) -> Vectors:
        """Texts of like length are computed together; the vectors come in the texts' order."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: Vectors | None = None
        for piece in _pieces(order, self._batch):
            compute = partial(self._ready().run, [texts[index] for index in piece])
            found = await self._in_turn(compute)
            if vectors is None:
                vectors = np.empty((len(texts), found.shape[1]), np.float32)
            vectors[list(piece)] = found
        assert vectors is not None  # noqa: S101 - a request has at least one input
        return vectors

    async def _in_turn(self, work: Callable[[ort.RunOptions], T]) -> T:
        """One piece of work in the thread, in order of arrival; cancelling it stops it."""
        options = ort.RunOptions()
        async with self._turn:
            running = asyncio.get_running_loop().run_in_executor(self._thread, work, options)
            try:
                return await running
            finally:
                options.terminate = True

    def _look_at(self, texts: Sequence[str], _: ort.RunOptions) -> list[Reading]:
        return self._ready().read(texts)

    def _ready(self) -> SentenceModel:
        if self._model is None:
            self._model = self._load()
        return self._model

    def _check(self, reading: Reading, place: str) -> None:
        name, most = self._spec.name, self._ready().max_tokens
        if reading.tokens > most:
            about = "about " if reading.estimated else ""
            raise Unsupported(
                f"`{place}` has {about}{reading.tokens} tokens, and {name} reads {most} at most: "
                "split it, or name a model that reads more",
                param=place,
                code="context_length_exceeded",
            )
        if reading.unknown > UNKNOWN_MAX * reading.content or reading.content < 1:
            raise Unsupported(
                f"`{place}` holds nothing that {name} can read: {reading.unknown} of its "
                f"{max(0, reading.content)} tokens are unknown to it. Name another model",
                param=place,
                code="unreadable_input",
            )

    def _failed(
        self, what: str, fault: Fault, *, retry_after_s: float | None = None
    ) -> BackendError:
        name = self._spec.name
        return BackendError(
            f"{name}: {what}", backend=name, fault=fault, retry_after_s=retry_after_s
        )


def _pieces(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _stand_back() -> None:
    """Lowers this thread's priority; on Linux alone is that a matter of one thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)

"""The sentence encoder of the scorer: INT8 through ONNX Runtime, under a deadline (R2, R56)."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

ASSETS = Path(__file__).parent / "assets"
"""The shipped encoder: all-MiniLM-L6-v2 in INT8."""
MAX_TOKENS = 128
HEAD_TOKENS = 64
"""Of a longer text the first half and the last are read: people ask before or after they paste."""
READ_CHARS = 4000
"""A tokenizer is not given more of either end than could matter."""
PROVIDERS = ("TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider")
"""Preference of execution providers (SPEC R56)."""
WARM_UP_TOKENS = (8, 64, MAX_TOKENS)


class Encoder:
    """Turns texts into vectors of unit length, one at a time, in a thread of its own.

    While a text is being encoded for nobody any more, `embed` gives None at once: late work is
    stopped, and never piles up.
    """

    def __init__(self, session: ort.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._late: asyncio.Future[NDArray[np.float32]] | None = None

    @classmethod
    def load(cls, model: Path, tokenizer: Path, *, threads: int) -> Self:
        """Loads and warms up; blocking, about half a second. Raises `OSError` or ORT's own."""
        session = ort.InferenceSession(str(model), _options(threads), providers=available())
        words = Tokenizer.from_file(str(tokenizer))
        words.no_padding()
        words.no_truncation()
        encoder = cls(session, words)
        for tokens in WARM_UP_TOKENS:
            encoder.encode("warm " * tokens)
        return encoder

    @classmethod
    def shipped(cls, *, threads: int) -> Self:
        """The one in this package."""
        return cls.load(ASSETS / "encoder.onnx", ASSETS / "tokenizer.json", threads=threads)

    async def embed(self, text: str, timeout_s: float) -> NDArray[np.float32] | None:
        """The vector, shape `(384,)`; None when it would come later than `timeout_s` seconds."""
        if self._late is not None and not self._late.done():
            return None
        options = ort.RunOptions()
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(self._thread, self.encode, text, options)
        done, _ = await asyncio.wait({running}, timeout=timeout_s)
        if done:
            return running.result()
        options.terminate = True
        self._late = running
        running.add_done_callback(_forget)
        return None

    def encode(self, text: str, options: ort.RunOptions | None = None) -> NDArray[np.float32]:
        """The same, blocking."""
        ids = np.array([self._ids(text)], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        (vectors,) = self._session.run(None, feed, options)
        return np.asarray(vectors[0], np.float32)

    def close(self) -> None:
        """Waits for the text under way."""
        self._thread.shutdown(wait=True)

    def _ids(self, text: str) -> list[int]:
        read = text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]} {text[-READ_CHARS:]}"
        ids: list[int] = self._tokenizer.encode(read).ids
        if len(ids) <= MAX_TOKENS:
            return ids
        return ids[:HEAD_TOKENS] + ids[HEAD_TOKENS - MAX_TOKENS :]


def available() -> list[str]:
    """The execution providers that are present here, best first."""
    present = set(ort.get_available_providers())
    return [provider for provider in PROVIDERS if provider in present]


def _options(threads: int) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = True
    # Threads that spin between two runs would take the core that the local LLM computes on.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options


def _forget(running: asyncio.Future[NDArray[np.float32]]) -> None:
    """A run that was stopped ends with an error that nobody waits for."""
    if not running.cancelled():
        running.exception()

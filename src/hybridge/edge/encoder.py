"""The sentence encoder of the scorer: INT8 through ONNX Runtime, under a deadline (R2, R56)."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

Vector = NDArray[np.float32]

ASSETS = Path(__file__).parent / "assets"
"""The shipped encoder: all-MiniLM-L6-v2 in INT8."""
MAX_TOKENS = 128
HEAD_TOKENS = 64
"""Of a longer text the first half and the last are read: people ask before or after they paste."""
READ_CHARS = 1000
"""The tokenizer, which takes time in proportion, is given no more of either end than could matter:
a token of less than one character does not exist, and 64 of them are looked at."""
QUEUE = 4
"""Texts that may be under way at once; with more, the next would come too late anyway."""
PROVIDERS = ("TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider")
"""Preference of execution providers (SPEC R56)."""
WARM_UP_TOKENS = (8, 64, MAX_TOKENS)
_TINY = 1e-12


class Encoder:
    """Turns texts into vectors of unit length, one at a time, in a thread of its own.

    Late work is stopped, and never piles up: what nobody waits for any more leaves the queue.
    """

    def __init__(self, session: ort.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {wanted.name for wanted in session.get_inputs()}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._under_way: list[Future[Vector]] = []

    @classmethod
    def load(cls, model: Path, tokenizer: Path, *, threads: int) -> Self:
        """Loads and warms up; blocking, about half a second. Raises what the two libraries do."""
        session = ort.InferenceSession(str(model), session_options(threads), providers=available())
        words = Tokenizer.from_file(str(tokenizer))
        words.no_padding()
        words.no_truncation()  # here it is done at both ends
        encoder = cls(session, words)
        for tokens in WARM_UP_TOKENS:
            encoder.encode("warm " * tokens)
        return encoder

    @classmethod
    def shipped(cls, *, threads: int) -> Self:
        """The one in this package."""
        return cls.load(ASSETS / "encoder.onnx", ASSETS / "tokenizer.json", threads=threads)

    async def embed(self, text: str, timeout_s: float) -> Vector | None:
        """The vector, shape `(384,)`; None when it would come later than `timeout_s` seconds."""
        self._under_way = [one for one in self._under_way if not one.done()]
        if len(self._under_way) >= QUEUE:
            return None
        options = ort.RunOptions()
        running = self._thread.submit(self.encode, text, options)
        self._under_way.append(running)
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.wrap_future(running)
        except TimeoutError:
            return None
        finally:
            options.terminate = True  # stops it, should it still compute for nobody

    def encode(self, text: str, options: ort.RunOptions | None = None) -> Vector:
        """The same, blocking."""
        ids = np.array([self._ids(text)], np.int64)
        known = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feed = {name: known[name] for name in self._inputs}
        output: Any = self._session.run(None, feed, options)[0]
        return _unit(output[0])

    def close(self) -> None:
        """Waits for the text under way; the others are dropped."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _ids(self, text: str) -> list[int]:
        read = text if len(text) <= 2 * READ_CHARS else f"{text[:READ_CHARS]} {text[-READ_CHARS:]}"
        readable = read.encode(errors="replace").decode()  # half a surrogate pair is no text
        ids: list[int] = self._tokenizer.encode(readable).ids
        if len(ids) <= MAX_TOKENS:
            return ids
        return ids[:HEAD_TOKENS] + ids[HEAD_TOKENS - MAX_TOKENS :]


def available() -> list[str]:
    """The execution providers that are present here, best first."""
    present = set(ort.get_available_providers())
    return [provider for provider in PROVIDERS if provider in present]


def session_options(threads: int) -> ort.SessionOptions:
    """How every session here computes (SPEC R56): on `threads` threads that do not spin."""
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


def _unit(output: NDArray[np.float32]) -> Vector:
    """A vector of length 1, from one per text or, where the graph does not pool, one per token."""
    pooled = output.mean(axis=0) if output.ndim > 1 else output
    return np.asarray(pooled / max(float(np.linalg.norm(pooled)), _TINY), np.float32)

"""A real model, and how its backend is asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from hybridge.core.backend import Call
from hybridge.core.clock import Deadline, SystemClock
from hybridge.core.errors import BackendError
from hybridge.core.request import Request
from hybridge.core.response import Chunk, Completion
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.llamacpp import LlamaCpp, spec_of

STORY = "Tell me a very long story about a dragon."
Opened = Callable[..., AbstractAsyncContextManager[LlamaCpp]]
"""`async with opened(slots=…, …) as backend`."""


async def loaded(gguf: Path, version: str = "v1", **config: Any) -> LlamaCpp:
    row = EdgeBackendConfig(
        **{"name": "local", "model": "tiny", "context_tokens": 512, "slots": 1, **config}
    )
    spec = spec_of(row, features=frozenset(), version=version)
    return await LlamaCpp.load(spec, gguf, row, threads=1)


def call(
    text: str,
    *,
    stream: bool = False,
    want_logprobs: bool = False,
    within_s: float = 60.0,
    max_tokens: int | None = None,
    **body: Any,
) -> Call:
    """Greedy where nothing else is said: a test of a real model is not a draw of lots."""
    messages = [{"role": "user", "content": text}]
    body = {"model": "auto", "messages": messages, "temperature": 0, **body}
    request = Request(
        id="r", model="auto", messages=(), body=body, stream=stream, max_tokens=max_tokens
    )
    return Call(request, Deadline.after(within_s, SystemClock()), want_logprobs=want_logprobs)


async def whole(backend: LlamaCpp, asked: Call) -> Completion:
    (event,) = [event async for event in backend.answer(asked)]
    assert isinstance(event, Completion)
    return event


async def pieces(backend: LlamaCpp, asked: Call) -> list[Chunk]:
    chunks = [event async for event in backend.answer(asked)]
    assert all(isinstance(chunk, Chunk) for chunk in chunks)
    return chunks  # type: ignore[return-value]


async def fault(backend: LlamaCpp, asked: Call) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await anext(backend.answer(asked))
    assert caught.value.backend == "local"
    return caught.value

"""llama.cpp in this process, through xllamacpp: GGUF models with log-probabilities (R55)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Any, Self

import msgspec

from hybridge.core.assembly import assemble
from hybridge.core.backend import FREE, BackendSpec, Call
from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.core.request import Tier
from hybridge.core.response import Chunk, Completion, Event
from hybridge.core.wire import ErrorInBand, Malformed, chunk, hide_logprobs
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.generation import Generation, Work
from hybridge.edge.slots import Slots

CONTEXT_TOKENS = 4096
"""Of one slot, where the configuration names none."""
BATCH_TOKENS = 64
"""Prompt tokens computed between two looks at whether anybody still waits."""
_NOT_FOR_THE_ENGINE = (
    "model", "stream_options", "max_completion_tokens", "user", "metadata", "store",
    "service_tier", "reasoning_effort", "prompt_cache_key", "safety_identifier",
)  # fmt: skip
_PROGRESS = '"prompt_progress"'


class LlamaCpp:
    """A GGUF model. Its answers are computed in threads, as many at once as it has slots."""

    def __init__(self, server: Any, spec: BackendSpec, config: EdgeBackendConfig) -> None:
        self._server = server
        self._spec = spec
        self._max_tokens = config.max_tokens
        self._slots = Slots(config.slots, config.queue, backend=spec.name)
        self._threads = ThreadPoolExecutor(config.slots, thread_name_prefix=f"llm-{spec.name}")
        self._running: set[Generation] = set()
        self._closed = False

    @classmethod
    async def load(
        cls, spec: BackendSpec, gguf: Path, config: EdgeBackendConfig, threads: int
    ) -> Self:
        """Loads the weights, off the event loop. Raises `ModelError` with the file's path."""
        if not gguf.is_file():
            raise ModelError(f"{spec.name}: there is no file {gguf}")
        try:
            server = await asyncio.to_thread(_server, gguf, spec, config, threads)
        except Exception as error:
            raise ModelError(f"{spec.name}: {gguf} cannot be loaded: {error}") from error
        return cls(server, spec, config)

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    async def probe(self) -> None:
        """Raises `BackendError` once it is closed; loaded weights need no other probing."""
        if self._closed:
            raise self._error("is closed", Fault.NETWORK)

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Generates. Closing the generator frees the slot at the next token or prompt batch."""
        await self._slots.take(call.deadline.remaining_s)
        if self._closed:
            self._slots.give_back()
            raise self._error("is closed", Fault.NETWORK)
        generation = Generation(self._work(call), self._threads)
        self._running.add(generation)
        generation.finished.add_done_callback(lambda _: self._done(generation))
        try:
            async with aclosing(self._events(generation, call)) as events:
                async for event in events:
                    yield event
        finally:
            generation.stop()

    async def close(self) -> None:
        """Stops every generation and frees the weights."""
        self._closed = True
        for generation in self._running:
            generation.stop()
        await asyncio.gather(*(g.finished for g in self._running), return_exceptions=True)
        server, self._server = self._server, None
        await asyncio.to_thread(_release, self._threads, [server])

    def _done(self, generation: Generation) -> None:
        self._running.discard(generation)
        self._slots.give_back()

    def _work(self, call: Call) -> Work:
        body, server = msgspec.json.encode(self._body(call)).decode(), self._server

        def work(say: Callable[[str], bool]) -> None:
            server.handle_chat_completions(body, say)

        return work

    def _body(self, call: Call) -> dict[str, Any]:
        request = call.request
        kept = {k: v for k, v in request.body.items() if k not in _NOT_FOR_THE_ENGINE}
        if call.want_logprobs and not kept.get("logprobs"):
            kept |= {"logprobs": True, "top_logprobs": 1}
        return kept | {
            "max_tokens": request.max_tokens or self._max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # one sign of life a batch: there the work can be stopped
        }

    async def _events(self, generation: Generation, call: Call) -> AsyncGenerator[Event, None]:
        hidden = call.want_logprobs and not call.request.body.get("logprobs")
        chunks: list[Chunk] = []
        try:
            async with asyncio.timeout(call.deadline.remaining_s) as limit:
                async for piece in generation.pieces():
                    if _PROGRESS in piece:
                        continue
                    read = self._read(piece)
                    if not call.request.stream:
                        chunks.append(read)
                        continue
                    yield hide_logprobs(read) if hidden else read
        except TimeoutError as late:
            if not limit.expired():
                raise
            raise self._error("did not finish in time", Fault.TIMEOUT) from late
        self._check_end(generation)
        if not call.request.stream:
            whole = self._whole(chunks)
            yield hide_logprobs(whole) if hidden else whole

    def _read(self, piece: str) -> Chunk:
        try:
            return chunk(piece.encode())
        except ErrorInBand as said:
            raise self._refused(said.body) from said
        except Malformed as error:
            raise self._error(f"said something unreadable: {error}", Fault.PROTOCOL) from error

    def _whole(self, chunks: Sequence[Chunk]) -> Completion:
        try:
            return assemble(chunks)
        except Malformed as error:
            raise self._error("sent an empty answer", Fault.PROTOCOL) from error

    def _check_end(self, generation: Generation) -> None:
        if self._closed and generation in self._running:
            raise self._error("was closed while it answered", Fault.NETWORK)

    def _refused(self, body: Any) -> BackendError:
        overflow = body.get("type") == "exceed_context_size_error"
        fault = Fault.SERVER
        if overflow:
            fault = Fault.CONTEXT
        elif body.get("type") == "invalid_request_error":
            fault = Fault.CALLER
        status = body.get("code") if isinstance(body.get("code"), int) else None
        return BackendError(
            f"{self._spec.name}: {body.get('message')}",
            backend=self._spec.name,
            fault=fault,
            status=status,
            body=body,
        )

    def _error(self, what: str, fault: Fault) -> BackendError:
        return BackendError(f"{self._spec.name} {what}", backend=self._spec.name, fault=fault)


def spec_of(
    config: EdgeBackendConfig, *, features: frozenset[Any], version: str
) -> BackendSpec:
    """What is known of a llama.cpp backend before it is loaded."""
    return BackendSpec(
        name=config.name,
        tier=Tier.EDGE,
        model=config.model,
        features=features,
        context_tokens=config.context_tokens or CONTEXT_TOKENS,
        leaves_device=False,
        price=FREE,
        version=version,
    )


def _server(gguf: Path, spec: BackendSpec, config: EdgeBackendConfig, threads: int) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.model_alias = {spec.model}
    params.n_parallel = config.slots
    params.n_ctx = (spec.context_tokens or CONTEXT_TOKENS) * config.slots
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    for share in (params.cpuparams, params.cpuparams_batch):
        share.n_threads = threads
        share.poll = 0  # threads that spin while they wait starve everyone on a shared core
    params.use_jinja = True
    params.ui = False
    params.verbosity = -1
    # The library also listens on loopback. Nobody else knows this key, so nobody else is served.
    params.api_keys = [secrets.token_urlsafe(32)]
    params.endpoint_slots = params.endpoint_props = False
    return xllamacpp.Server(params)


def _release(threads: ThreadPoolExecutor, holding: list[Any]) -> None:
    threads.shutdown(wait=True)
    holding.clear()

"""llama.cpp in this process, through xllamacpp: GGUF models with log-probabilities (R55)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from hybridge.core.assembly import assemble
from hybridge.core.backend import FREE, BackendSpec, Call
from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.core.request import Feature, Tier
from hybridge.core.response import Chunk, Event
from hybridge.core.wire import ErrorInBand, Malformed, chunk, hide_logprobs
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.generation import Generation
from hybridge.edge.gguf import read_facts
from hybridge.edge.llama_server import LlamaServer, Load
from hybridge.edge.slots import Slots
from hybridge.modelstore.digest import fingerprint

CONTEXT_TOKENS = 4096
"""Of one slot, where neither the configuration nor the model names less."""
HONOURED = frozenset(
    (
        "messages", "temperature", "top_p", "top_k", "min_p", "stop", "seed", "presence_penalty",
        "frequency_penalty", "repeat_penalty", "logit_bias", "logprobs", "top_logprobs",
        "response_format", "grammar", "tools", "tool_choice", "parallel_tool_calls",
        "chat_template_kwargs",
    )
)  # fmt: skip
"""Fields of a request that llama.cpp acts on. The others say nothing about the text that is wanted
(`user`, `metadata`, …), or would let a caller reach into the engine (`n_predict`, `id_slot`, …)."""
_FAULTS: Mapping[str, Fault] = {
    "exceed_context_size_error": Fault.CONTEXT,
    "invalid_request_error": Fault.CALLER,
    "not_supported_error": Fault.CALLER,
    "unavailable_error": Fault.BUSY,
}
"""The engine's own types of error (source: llama.cpp's server, `error_type`)."""
_PROGRESS = '"prompt_progress"'
"""Marks a piece that only says how much of the prompt has been read. In a text the quotation marks
would be escaped, so that no answer can hold this."""


class LlamaCpp:
    """A GGUF model. Its answers are computed in threads, as many at once as it has slots."""

    def __init__(self, server: LlamaServer, spec: BackendSpec, config: EdgeBackendConfig) -> None:
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
        """Loads the weights, off the event loop. Raises `ModelError` with the file's path.

        The context is never longer than the model was trained for. Weights without a version
        (`spec.version`) get one from their content.
        """
        try:
            server, spec = await asyncio.to_thread(_load, spec, gguf, config, threads)
        except ModelError as error:
            raise ModelError(f"{spec.name}: {error}") from error
        return cls(server, spec, config)

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    async def probe(self) -> None:
        """Raises `BackendError` once it is closed; loaded weights need no other probing."""
        self._check_open()

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Generates. Closing the generator frees the slot at the next token or prompt batch."""
        body = msgspec.json.encode(self._body(call)).decode()
        hidden = not call.request.body.get("logprobs")
        async with aclosing(self._chunks(body, call)) as chunks:
            if call.request.stream:
                async for piece in chunks:
                    yield hide_logprobs(piece) if hidden else piece
            else:
                whole = assemble([piece async for piece in chunks])
                yield hide_logprobs(whole) if hidden else whole

    async def close(self) -> None:
        """Stops every generation and frees the weights. Who still waits for a slot is refused."""
        self._closed = True
        for generation in self._running:
            generation.stop()
        await asyncio.gather(*(generation.finished for generation in self._running))
        await asyncio.to_thread(self._release)

    def _release(self) -> None:
        self._threads.shutdown(wait=True)
        self._server.close()

    def _body(self, call: Call) -> dict[str, Any]:
        request = call.request
        sent = {k: v for k, v in request.body.items() if k in HONOURED and v is not None}
        if call.want_logprobs or sent.get("logprobs"):
            # Asked for none of the alternatives, llama.cpp gives no log-probabilities at all.
            sent |= {"logprobs": True, "top_logprobs": max(1, sent.get("top_logprobs", 1))}
        return sent | {
            "max_tokens": request.max_tokens or self._max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # a sign of life for each batch: there the work can be stopped
        }

    async def _chunks(self, body: str, call: Call) -> AsyncGenerator[Chunk, None]:
        await self._slots.take(call.deadline)
        generation, finished = self._begin(body), False
        try:
            while (said := await self._next(generation, call)) is not None:
                if _PROGRESS in said:
                    continue
                piece = self._read(said)
                finished = finished or piece.finish_reason is not None
                yield piece
        finally:
            generation.stop()
        if not finished:
            raise self._error("ended before its answer was finished", Fault.PROTOCOL)

    def _begin(self, body: str) -> Generation:
        """Takes up the slot that was given; it goes back when the thread has ended."""
        try:
            self._check_open()
        except BackendError:
            self._slots.give_back()
            raise
        generation = Generation(partial(self._server.chat, body), self._threads)
        self._running.add(generation)
        generation.finished.add_done_callback(lambda _: self._end(generation))
        return generation

    def _end(self, generation: Generation) -> None:
        self._running.discard(generation)
        self._slots.give_back()

    async def _next(self, generation: Generation, call: Call) -> str | None:
        try:
            said = await generation.next(call.deadline)
        except TimeoutError as late:
            raise self._error("did not finish in time", Fault.TIMEOUT) from late
        except (ValueError, RuntimeError) as error:
            raise self._error(f"cannot take this request: {error}", Fault.CALLER) from error
        except Exception as error:  # whatever the engine does, callers get a BackendError
            raise self._error(f"failed: {error}", Fault.SERVER) from error
        if said is None and generation.stopped:
            raise self._error("was closed while it answered", Fault.NETWORK)
        return said

    def _read(self, said: str) -> Chunk:
        try:
            return chunk(said.encode())
        except ErrorInBand as refusal:
            raise self._refused(refusal.body) from refusal
        except Malformed as error:
            raise self._error(f"said something unreadable: {error}", Fault.PROTOCOL) from error

    def _check_open(self) -> None:
        if self._closed:
            raise self._error("is closed", Fault.NETWORK)

    def _refused(self, body: Mapping[str, Any]) -> BackendError:
        code = body.get("code")
        return BackendError(
            f"{self._spec.name}: {body.get('message')}",
            backend=self._spec.name,
            fault=_FAULTS.get(str(body.get("type")), Fault.SERVER),
            status=code if isinstance(code, int) else None,
            body=body,
        )

    def _error(self, what: str, fault: Fault) -> BackendError:
        return BackendError(f"{self._spec.name} {what}", backend=self._spec.name, fault=fault)


def spec_of(
    config: EdgeBackendConfig, *, features: frozenset[Feature], version: str
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


def _load(
    spec: BackendSpec, gguf: Path, config: EdgeBackendConfig, threads: int
) -> tuple[LlamaServer, BackendSpec]:
    trained = read_facts(gguf).context_tokens
    wanted = spec.context_tokens or CONTEXT_TOKENS
    context = min(wanted, trained or wanted)
    server = LlamaServer.load(Load(gguf, spec.model, context, config.slots, threads))
    version = spec.version or fingerprint(gguf)
    return server, replace(spec, context_tokens=context, version=version)

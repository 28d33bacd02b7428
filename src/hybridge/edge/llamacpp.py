"""llama.cpp in this process, through xllamacpp: GGUF models with log-probabilities (R55)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
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
from hybridge.core.wire import ErrorInBand, Malformed, hide_logprobs
from hybridge.edge.asking import Asked, asked
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.generation import Generation
from hybridge.edge.gguf import read_facts
from hybridge.edge.llama_server import LlamaServer, Load
from hybridge.edge.memory import check_room
from hybridge.edge.refused import Refused
from hybridge.edge.slots import Slots
from hybridge.edge.telling import NEXT_CHOICE, Telling
from hybridge.edge.timings import Timed, report, unheard
from hybridge.modelstore.digest import fingerprint

CONTEXT_TOKENS = 4096
"""Of one slot, where neither the configuration nor the model names less."""
_FAULTS: Mapping[str, Fault] = {
    "exceed_context_size_error": Fault.CONTEXT,
    "invalid_request_error": Fault.CALLER,
    "not_supported_error": Fault.UNABLE,
    "unavailable_error": Fault.BUSY,
}
"""The engine's own types of error (source: llama.cpp's server, `error_type`)."""


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
        self.timed: Timed = unheard
        """Hears how long each prompt and each answer took to compute."""

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

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot."""
        return self._slots.waiting

    async def probe(self) -> None:
        """Raises `BackendError` once it is closed; loaded weights need no other probing."""
        self._check_open()

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Generates. Closing the generator frees the slot at the next token or prompt batch."""
        try:
            wanted = asked(call, self._max_tokens)
        except Refused as refused:
            raise refused.by(self._spec.name) from refused
        hidden = wanted.top_logprobs is None
        async with aclosing(self._chunks(wanted, call)) as chunks:
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

    async def _chunks(self, wanted: Asked, call: Call) -> AsyncGenerator[Chunk, None]:
        await self._slots.take(call.deadline)
        generation = self._begin(wanted)
        telling = Telling(
            wanted, call.request.id, build=self._server.build, version=self._spec.version
        )
        try:
            while (said := await self._next(generation, call)) is not None:
                for piece in self._read(telling, said):
                    yield piece
        finally:
            generation.stop()
            if generation.finished.done():
                self._end(generation)  # so that the slot is free by the end of the answer
        if not telling.finished:
            raise self._error("ended before its answer was finished", Fault.PROTOCOL)

    def _begin(self, wanted: Asked) -> Generation:
        """Takes up the slot that was given; it goes back when the thread has ended."""
        try:
            self._check_open()
        except BackendError:
            self._slots.give_back()
            raise
        generation = Generation(partial(self._compute, wanted), self._threads)
        self._running.add(generation)
        generation.finished.add_done_callback(lambda _: self._end(generation))
        return generation

    def _compute(self, wanted: Asked, say: Callable[[str], bool]) -> None:
        """Blocking: one choice after the other, in the one slot that was given."""
        body = {**wanted.body, **self._held_to(wanted)}
        for index in range(wanted.choices):
            if index and say(NEXT_CHOICE):
                return
            own = body | {"seed": body["seed"] + index} if "seed" in body else body
            self._server.chat(msgspec.json.encode(own).decode(), say)

    def _held_to(self, wanted: Asked) -> Mapping[str, str]:
        """The first grammar that the engine can read. Raises `Refused` where it can read none."""
        for grammar in wanted.grammars:
            if self._server.reads(grammar):
                return {"grammar": grammar}
        if not wanted.grammars:
            return {}
        what = "holds a JSON schema that this model cannot be held to"
        raise Refused(wanted.held_by, what, code="unsupported_schema")

    def _end(self, generation: Generation) -> None:
        if generation in self._running:
            self._running.remove(generation)
            self._slots.give_back()

    async def _next(self, generation: Generation, call: Call) -> str | None:
        try:
            said = await generation.next(call.deadline)
        except TimeoutError as late:
            raise self._error("did not finish in time", Fault.TIMEOUT) from late
        except Refused as refused:
            raise refused.by(self._spec.name) from refused
        except (ValueError, RuntimeError) as error:
            raise self._error(f"cannot take this request: {error}", Fault.CALLER) from error
        except Exception as error:  # whatever the engine does, callers get a BackendError
            raise self._error(f"failed: {error}", Fault.SERVER) from error
        if said is None and generation.stopped:
            raise self._error("was closed while it answered", Fault.NETWORK)
        return said

    def _read(self, telling: Telling, said: str) -> Sequence[Chunk]:
        report(said, self.timed)
        try:
            return telling.read(said)
        except ErrorInBand as refusal:
            raise self._refused(refusal.body) from refusal
        except Malformed as error:
            raise self._error(f"said something unreadable: {error}", Fault.PROTOCOL) from error

    def _check_open(self) -> None:
        if self._closed:
            raise self._error("is closed", Fault.NETWORK)

    def _refused(self, body: Mapping[str, Any]) -> BackendError:
        code, fault = body.get("code"), _FAULTS.get(str(body.get("type")), Fault.SERVER)
        if fault is Fault.CONTEXT:
            body = {**body, **_too_long(body)}
        return BackendError(
            f"{self._spec.name}: {body.get('message')}",
            backend=self._spec.name,
            fault=fault,
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


def _too_long(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The engine's refusal in the caller's words, with its own count of tokens."""
    return {
        "message": f"the prompt is {body.get('n_prompt_tokens')} tokens long, "
        f"and the model's context has room for {body.get('n_ctx')}, answer included",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }


def _load(
    spec: BackendSpec, gguf: Path, config: EdgeBackendConfig, threads: int
) -> tuple[LlamaServer, BackendSpec]:
    trained = read_facts(gguf).context_tokens
    wanted = spec.context_tokens or CONTEXT_TOKENS
    check_room(gguf)
    load = Load(gguf, spec.model, min(wanted, trained or wanted), config.slots, threads)
    server = LlamaServer.load(load)
    context = min(server.context_tokens(load), trained or load.context_tokens)
    version = spec.version or fingerprint(gguf)
    return server, replace(spec, context_tokens=context, version=version)

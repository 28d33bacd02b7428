"""llama.cpp in this process, through xllamacpp: GGUF models with log-probabilities (R55)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self

import msgspec
from msgspec.structs import replace

from hybridge.core.backend import FREE, BackendSpec, Call
from hybridge.core.errors import ModelError
from hybridge.core.request import Feature, Tier
from hybridge.core.response import Event
from hybridge.edge.answering import Answering
from hybridge.edge.asking import Asked
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.generation import Generation
from hybridge.edge.gguf import read_facts
from hybridge.edge.llama_server import LlamaServer, Load
from hybridge.edge.memory import check_room
from hybridge.edge.refused import Refused
from hybridge.edge.telling import NEXT_CHOICE
from hybridge.edge.timings import Timed
from hybridge.modelstore.digest import fingerprint

CONTEXT_TOKENS = 4096
"""Of one slot, where neither the configuration nor the model names less."""


class LlamaCpp:
    """A GGUF model. Its answers are computed in threads, as many at once as it has slots."""

    def __init__(self, server: LlamaServer, spec: BackendSpec, config: EdgeBackendConfig) -> None:
        self._server = server
        self._spec = spec
        self._threads = ThreadPoolExecutor(config.slots, thread_name_prefix=f"llm-{spec.name}")
        self._answering = Answering(spec, config, self._begin, server.build)

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
        return self._answering.waiting

    def tell(self, timed: Timed) -> None:
        """From now on `timed` hears how long each prompt and each answer took to compute."""
        self._answering.timed = timed

    async def probe(self) -> None:
        """Raises `BackendError` once it is closed; loaded weights need no other probing."""
        self._answering.check_open()

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Generates. Closing the generator frees the slot at the next token or prompt batch."""
        return self._answering.answer(call)

    async def close(self) -> None:
        """Stops every generation and frees the weights. Who still waits for a slot is refused."""
        await self._answering.close()
        await asyncio.to_thread(self._release)

    def _release(self) -> None:
        self._threads.shutdown(wait=True)
        self._server.close()

    def _begin(self, wanted: Asked) -> Generation:
        return Generation(partial(self._compute, wanted), self._threads)

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


def spec_of(
    config: EdgeBackendConfig, *, features: frozenset[Feature], version: str
) -> BackendSpec:
    """What is known of a local engine's backend before it is loaded."""
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
    check_room(gguf)
    load = Load(gguf, spec.model, min(wanted, trained or wanted), config.slots, threads)
    server = LlamaServer.load(load)
    context = min(server.context_tokens(load), trained or load.context_tokens)
    version = spec.version or fingerprint(gguf)
    return server, replace(spec, context_tokens=context, version=version)

"""ONNX Runtime GenAI in a worker process: INT4 and INT8 models with log-probabilities (R55).

The library holds the interpreter's lock while it computes, and its crash is the process's: so it
has a process of its own. Several answers take turns there, a token each: the library's own engine
for batches gives no logits, and so no probabilities.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from hybridge.core.backend import BackendSpec, Call
from hybridge.core.errors import Fault, ModelError
from hybridge.core.response import Event
from hybridge.edge.answering import Answering
from hybridge.edge.asking import Asked
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.genai_asking import ask
from hybridge.edge.genai_folder import check_libraries, read_folder
from hybridge.edge.genai_keeper import BACKOFF_S, Keeper
from hybridge.edge.genai_process import CLOSE_S, Worker, WorkerAnswer
from hybridge.edge.genai_wire import Load
from hybridge.edge.llamacpp import CONTEXT_TOKENS
from hybridge.edge.memory import check_room
from hybridge.edge.timings import Timed
from hybridge.modelstore.digest import fingerprint

RESTART_RETRY_S = 2.0
"""When to ask again while the worker is started again."""


class OrtGenai:
    """A model of ONNX Runtime GenAI. A lost worker fails its answers and is started again."""

    def __init__(
        self, keeper: Keeper, spec: BackendSpec, config: EdgeBackendConfig, build: str
    ) -> None:
        self._keeper = keeper
        self._spec = spec
        self._answering = Answering(spec, config, self._begin, build)

    @classmethod
    async def load(
        cls,
        spec: BackendSpec,
        folder: Path,
        config: EdgeBackendConfig,
        threads: int,
        *,
        backoff_s: float = BACKOFF_S,
    ) -> Self:
        """Loads the weights in a process of their own. Raises `ModelError` with the path.

        The context is never longer than the model was trained for. Weights without a version
        (`spec.version`) get one from their content.
        """
        try:
            spec = await asyncio.to_thread(_checked, spec, folder)
            load = Load(str(folder), spec.model, spec.context_tokens or CONTEXT_TOKENS, threads)
            worker = await Worker.start(load)
        except ModelError as error:
            raise ModelError(f"{spec.name}: {error}") from error
        keeper = Keeper(worker, partial(Worker.start, load), spec.name, backoff_s=backoff_s)
        return cls(keeper, spec, config, worker.build)

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    @property
    def pid(self) -> int | None:
        """The worker's process id; None while there is none."""
        worker = self._keeper.worker
        return None if worker is None else worker.pid

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot."""
        return self._answering.waiting

    def tell(self, timed: Timed) -> None:
        """From now on `timed` hears how long each prompt and each answer took to compute."""
        self._answering.timed = timed

    async def probe(self) -> None:
        """Raises `BackendError` once it is closed, and while it has no worker."""
        self._answering.check_open()
        self._present()

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Generates. Closing the generator frees the slot at the next token or prompt batch."""
        return self._answering.answer(call)

    async def close(self) -> None:
        """Stops every answer and ends the worker. Who still waits for a slot is refused."""
        with suppress(TimeoutError):  # what does not stop ends with the worker
            async with asyncio.timeout(CLOSE_S):
                await self._answering.close()
        await self._keeper.close()

    def _begin(self, wanted: Asked) -> WorkerAnswer:
        worker = self._present()
        return worker.ask(ask(worker.next_number, wanted))

    def _present(self) -> Worker:
        keeper = self._keeper
        if keeper.worker is not None:
            return keeper.worker
        if keeper.given_up:
            what = f"is down: {keeper.why}, and was started in vain"
            raise self._answering.error(what, Fault.NETWORK)
        what = f"is started again: {keeper.why}"
        raise self._answering.error(what, Fault.REFUSED, retry_after_s=RESTART_RETRY_S)


def _checked(spec: BackendSpec, folder: Path) -> BackendSpec:
    """What is really there. Raises `ModelError`."""
    check_libraries()
    found = read_folder(folder)
    check_room(found.weights)
    wanted = spec.context_tokens or CONTEXT_TOKENS
    return replace(
        spec,
        context_tokens=min(wanted, found.context_tokens),
        version=spec.version or fingerprint(found.weights),
    )

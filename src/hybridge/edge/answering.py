"""How a local engine answers: slots in front of it, its pieces as events behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from hybridge.core.assembly import assemble
from hybridge.core.backend import BackendSpec, Call
from hybridge.core.clock import Deadline
from hybridge.core.errors import BackendError, Fault
from hybridge.core.response import Chunk, Event
from hybridge.core.wire import ErrorInBand, Malformed, hide_logprobs
from hybridge.edge.asking import Asked, asked
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.refused import Refused
from hybridge.edge.slots import Slots
from hybridge.edge.telling import Telling
from hybridge.edge.timings import Timed, report, unheard

_FAULTS: Mapping[str, Fault] = {
    "exceed_context_size_error": Fault.CONTEXT,
    "invalid_request_error": Fault.CALLER,
    "not_supported_error": Fault.UNABLE,
    "unavailable_error": Fault.BUSY,
}
"""The engines' own types of error (source: llama.cpp's server, `error_type`)."""


class Running(Protocol):
    """One answer that is being computed somewhere else than on the event loop."""

    stopped: bool
    """Whether somebody ended it; then nothing more is handed over."""
    finished: asyncio.Future[None]
    """Done when nothing is computed for it any more."""

    def stop(self) -> None:
        """Ends it between two pieces."""
        ...

    async def next(self, deadline: Deadline) -> str | None:
        """The next piece, JSON, or None at the end. Raises `TimeoutError`, or what went wrong."""
        ...


class Answering:
    """The answers of one loaded engine, as many at once as it has slots."""

    def __init__(
        self,
        spec: BackendSpec,
        config: EdgeBackendConfig,
        begin: Callable[[Asked], Running],
        build: str,
    ) -> None:
        """`begin` starts an answer in a free slot; `build` is the engine's name for itself."""
        self._spec = spec
        self._max_tokens = config.max_tokens
        self._begin = begin
        self._build = build
        self._slots = Slots(config.slots, config.queue, backend=spec.name)
        self._running: set[Running] = set()
        self._closed = False
        self.timed: Timed = unheard
        """Hears how long each prompt and each answer took to compute."""

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot."""
        return self._slots.waiting

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """As `Backend.answer`. Closing the generator stops the answer at its next piece."""
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
        """Stops every answer and returns when none is computed. Who waits for a slot is refused."""
        self._closed = True
        for running in self._running:
            running.stop()
        await asyncio.gather(*(running.finished for running in self._running))

    def check_open(self) -> None:
        """Raises `BackendError` once it is closed."""
        if self._closed:
            raise self.error("is closed", Fault.NETWORK)

    def error(self, what: str, fault: Fault, *, retry_after_s: float | None = None) -> BackendError:
        """An error of this backend."""
        name = self._spec.name
        return BackendError(
            f"{name} {what}", backend=name, fault=fault, retry_after_s=retry_after_s
        )

    async def _chunks(self, wanted: Asked, call: Call) -> AsyncGenerator[Chunk, None]:
        await self._slots.take(call.deadline)
        running = self._started(wanted)
        telling = Telling(wanted, call.request.id, build=self._build, version=self._spec.version)
        try:
            while (said := await self._next(running, call)) is not None:
                for piece in self._read(telling, said):
                    yield piece
        finally:
            running.stop()
            if running.finished.done():
                self._end(running)  # so that the slot is free by the end of the answer
        if not telling.finished:
            raise self.error("ended before its answer was finished", Fault.PROTOCOL)

    def _started(self, wanted: Asked) -> Running:
        """Takes up the slot that was given; it goes back when nothing is computed any more."""
        try:
            self.check_open()
            running = self._begin(wanted)
        except BaseException as error:
            self._slots.give_back()
            if isinstance(error, Refused):
                raise error.by(self._spec.name) from error
            raise
        self._running.add(running)
        running.finished.add_done_callback(lambda _: self._end(running))
        return running

    def _end(self, running: Running) -> None:
        if running in self._running:
            self._running.remove(running)
            self._slots.give_back()

    async def _next(self, running: Running, call: Call) -> str | None:
        try:
            said = await running.next(call.deadline)
        except TimeoutError as late:
            raise self.error("did not finish in time", Fault.TIMEOUT) from late
        except Refused as refused:
            raise refused.by(self._spec.name) from refused
        except (ValueError, RuntimeError) as error:
            raise self.error(f"cannot take this request: {error}", Fault.CALLER) from error
        except Exception as error:  # whatever the engine does, callers get a BackendError
            raise self.error(f"failed: {error}", Fault.SERVER) from error
        if said is None and running.stopped:
            raise self.error("was closed while it answered", Fault.NETWORK)
        return said

    def _read(self, telling: Telling, said: str) -> Sequence[Chunk]:
        report(said, self.timed)
        try:
            return telling.read(said)
        except ErrorInBand as refusal:
            raise self._refused(refusal.body) from refusal
        except Malformed as error:
            raise self.error(f"said something unreadable: {error}", Fault.PROTOCOL) from error

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


def _too_long(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The engine's refusal in the caller's words, with its own count of tokens."""
    return {
        "message": f"the prompt is {body.get('n_prompt_tokens')} tokens long, "
        f"and the model's context has room for {body.get('n_ctx')}, answer included",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }

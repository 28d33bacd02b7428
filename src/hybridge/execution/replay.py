"""An answer that exists already, or soon will, given as if a backend had just been asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from hybridge.core.assembly import as_chunks
from hybridge.core.backend import BackendSpec, Call
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Request
from hybridge.core.response import Completion, Event


async def replay(completion: Completion, request: Request) -> AsyncGenerator[Event, None]:
    """The completion as the request wants it: whole, or as a stream of chunks."""
    if not request.stream:
        yield completion
        return
    for chunk in as_chunks(completion):
        yield chunk


Coming = asyncio.Future[Completion | BackendError]


class Replay:
    """Stands in for a backend that is already at work on the same request (R9: never ask twice)."""

    def __init__(
        self, spec: BackendSpec, coming: asyncio.Future[Completion | BackendError]
    ) -> None:
        self._spec = spec
        self._coming = coming

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Waits for the answer under way. Raises `BackendError` as that one failed."""
        coming = self._coming
        await asyncio.wait({coming}, timeout=call.deadline.remaining_s)
        if not coming.done():
            raise self._error("did not answer in time", Fault.TIMEOUT)
        if coming.cancelled():
            raise self._error("was not asked after all", Fault.REFUSED)
        came = coming.result()
        if isinstance(came, BackendError):
            raise came.anew()
        async for event in replay(came, call.request):
            yield event

    async def probe(self) -> None:
        """An answer that is there needs no probing."""

    def _error(self, what: str, fault: Fault) -> BackendError:
        return BackendError(f"{self._spec.name} {what}", backend=self._spec.name, fault=fault)

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


class Replay:
    """Stands in for a backend that is already at work on the same request (R9: never ask twice)."""

    def __init__(self, spec: BackendSpec, coming: asyncio.Future[Completion]) -> None:
        self._spec = spec
        self._coming = coming

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """Waits for the answer under way. Raises what that one raised."""
        try:
            async with asyncio.timeout(call.deadline.remaining_s):
                completion = await asyncio.shield(self._coming)
        except TimeoutError as late:
            raise self._error("did not answer in time", Fault.TIMEOUT) from late
        except asyncio.CancelledError:
            if not self._coming.cancelled():
                raise
            raise self._error("was not asked after all", Fault.BUSY) from None
        async for event in replay(completion, call.request):
            yield event

    async def probe(self) -> None:
        """An answer that is there needs no probing."""

    def _error(self, what: str, fault: Fault) -> BackendError:
        return BackendError(f"{self._spec.name} {what}", backend=self._spec.name, fault=fault)

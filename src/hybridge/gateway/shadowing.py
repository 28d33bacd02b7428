"""One shadow comparison under way: the side that was asked, and the side that serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from hybridge.core.backend import Backend, Call
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Request, Tier
from hybridge.core.response import Completion, Event
from hybridge.execution.replay import Replay
from hybridge.learning.agreement import Said


class Side(Struct, frozen=True):
    """One tier's answer, as far as it is compared."""

    backend: str
    tier: Tier
    version: str
    said: Said
    confidence: float | None
    ms: float


class Shadowing:
    """Brings the two sides of a comparison together, whichever is there first."""

    def __init__(self, backend: Backend) -> None:
        loop = asyncio.get_running_loop()
        self.backend = backend
        self.asked: asyncio.Future[Completion] = loop.create_future()
        """The answer of the backend that is asked beside. Cancelled when it is not wanted."""
        self.confidence: float | None = None
        """How sure the asked side is; known when `asked` is done."""
        self.replay = Replay(backend.spec, self.asked)
        """Stands in for the backend, should the plan fall back to it (R9)."""
        self._served: asyncio.Future[Side | None] = loop.create_future()

    def served(self, side: Side | None) -> None:
        """The request is over. None: without an answer to compare, so the work stops at once."""
        if not self._served.done():
            self._served.set_result(side)
        if side is None:
            self.asked.cancel()

    def cancel(self) -> None:
        """Not wanted any more."""
        self.served(None)

    async def other(self) -> Side | None:
        """The side that served the request; None when there is none."""
        return await self._served

    async def ask(self, call: Call) -> Completion:
        """Asks the backend until the deadline or until nobody wants it. Raises `BackendError`."""
        asking = asyncio.ensure_future(_only(self.backend, call))
        self.asked.add_done_callback(lambda _: asking.cancel())
        try:
            await asyncio.wait({asking}, timeout=call.deadline.remaining_s)
            return self._result(asking)
        finally:
            if asking.cancel():
                await asyncio.wait({asking})

    def _result(self, asking: asyncio.Future[Completion]) -> Completion:
        if asking.done() and not asking.cancelled() and asking.exception() is None:
            return asking.result()
        error = asking.exception() if asking.done() and not asking.cancelled() else None
        if not isinstance(error, BackendError):
            name = self.backend.spec.name
            late = not asking.done()
            error = BackendError(
                f"{name} did not answer in time" if late else f"{name} was not asked to the end",
                backend=name,
                fault=Fault.TIMEOUT if late else Fault.BUSY,
            )
        raise error


def whole(request: Request) -> Request:
    """The same request, to be answered in one piece."""
    if not request.stream:
        return request
    body = {k: v for k, v in request.body.items() if k not in ("stream", "stream_options")}
    return replace(request, stream=False, include_usage=False, body=body)


async def _only(backend: Backend, call: Call) -> Completion:
    events: AsyncGenerator[Event, None] = backend.answer(call)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Completion):
                return event
    name = backend.spec.name
    raise BackendError(f"{name} sent an empty answer", backend=name, fault=Fault.PROTOCOL)

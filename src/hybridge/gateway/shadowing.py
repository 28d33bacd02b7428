"""One shadow comparison under way: the side that was asked, and the side that serves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing

from msgspec import Struct

from hybridge.core.backend import Backend, Call
from hybridge.core.errors import BackendError, Fault
from hybridge.core.request import Tier
from hybridge.core.response import Completion
from hybridge.execution.replay import Replay
from hybridge.learning.agreement import Said

_log = logging.getLogger("hybridge.shadow")


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
        self.asked: asyncio.Future[Completion | BackendError] = loop.create_future()
        """What the backend that is asked beside comes to. Cancelled when it is not wanted."""
        self.confidence: float | None = None
        """How sure the asked side is; known when `asked` is done."""
        self.standing_in: Mapping[str, Backend] = {
            backend.spec.name: Replay(backend.spec, self.asked)
        }
        """Who stands in for the backend, should the plan fall back to it (R9)."""
        self._served: asyncio.Future[Side | None] = loop.create_future()

    def came(self, what: Completion | BackendError) -> None:
        """The backend that was asked has come to an end."""
        if not self.asked.done():
            self.asked.set_result(what)

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

    async def ask(self, call: Call) -> Completion | BackendError:
        """What the backend says by the deadline, as long as somebody wants it, or how it failed."""
        asking = asyncio.ensure_future(_only(self.backend, call))
        self.asked.add_done_callback(lambda _: asking.cancel())
        try:
            await asyncio.wait({asking}, timeout=call.deadline.remaining_s)
            if not asking.done():
                return self._error("did not answer in time", Fault.TIMEOUT)
            if asking.cancelled():
                return self._error("was not asked to the end", Fault.REFUSED)
            if broken := asking.exception():
                _log.error("%s broke", self.backend.spec.name, exc_info=broken)
                return self._error("broke", Fault.SERVER)
            return asking.result()
        finally:
            if asking.cancel():
                await asyncio.wait({asking})

    def _error(self, what: str, fault: Fault) -> BackendError:
        name = self.backend.spec.name
        return BackendError(f"{name} {what}", backend=name, fault=fault)


async def _only(backend: Backend, call: Call) -> Completion | BackendError:
    """An error is a value here: a task that raises it and the frames it passes know each other."""
    try:
        async with aclosing(backend.answer(call)) as events:
            async for event in events:
                if isinstance(event, Completion):
                    return event
    except BackendError as error:
        return error
    name = backend.spec.name
    return BackendError(f"{name} sent an empty answer", backend=name, fault=Fault.PROTOCOL)

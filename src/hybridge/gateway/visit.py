"""One request's stay in a gateway, and how many there are."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Protocol

from hybridge.core.request import Request
from hybridge.gateway.payment import CANCELLED
from hybridge.gateway.reply import Reply
from hybridge.gateway.trip import Trip


class Host(Protocol):
    """Whoever is visited: the gateway."""

    def arrive(self, request: Request) -> Trip: ...
    async def begin(self, trip: Trip) -> Reply: ...
    async def end(self, trip: Trip) -> None: ...


class Visits:
    """How many requests are under way."""

    def __init__(self) -> None:
        self.count = 0
        self._left: asyncio.Event | None = None

    def enter(self) -> None:
        """One more."""
        self.count += 1

    def leave(self) -> None:
        """One is over."""
        self.count -= 1
        if self._left is not None and not self.count:
            self._left.set()

    async def idle(self) -> None:
        """Returns when there is none any more; for where no new ones come."""
        self._left = asyncio.Event()
        if self.count:
            await self._left.wait()


class Visit:
    """Entered once the first event of an answer is there; leaving stops all work for it.

    A class, since `contextlib`'s generators take a fiftieth of what a request costs.
    """

    __slots__ = ("_gateway", "_request", "_trip", "_visits")

    def __init__(self, gateway: Host, request: Request, visits: Visits) -> None:
        self._gateway = gateway
        self._request = request
        self._visits = visits

    async def __aenter__(self) -> Reply:
        self._visits.enter()
        try:
            self._trip: Trip = self._gateway.arrive(self._request)
        except BaseException:
            self._visits.leave()
            raise
        try:
            return await self._gateway.begin(self._trip)
        except BaseException as error:
            await self._leave(error)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._leave(error)

    async def _leave(self, error: BaseException | None) -> None:
        if error is not None:
            self._trip.error = _name(error)
        try:
            await self._gateway.end(self._trip)
        finally:
            self._visits.leave()


def _name(error: BaseException) -> str:
    cancelled = isinstance(error, asyncio.CancelledError | GeneratorExit)
    return CANCELLED if cancelled else type(error).__name__

"""Connections that wait for their next request."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from hybridge.cloud.http.connection import Connection

IDLE_S = 60.0
"""An idle connection is closed before the 75 s after which common servers close it themselves."""
IDLE = 256
"""Idle connections kept for one upstream."""


class Pool:
    """All connections to one upstream. The one that was used last is used first.

    As many are opened as there are requests at once: the gateway limits those.
    """

    def __init__(
        self,
        connect: Callable[[Connection, float], Awaitable[None]],
        *,
        idle_s: float = IDLE_S,
        idle: int = IDLE,
    ) -> None:
        self._connect = connect
        self._idle_s = idle_s
        self._most_idle = idle
        self._idle: deque[Connection] = deque()
        self._all: set[Connection] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def take(self) -> Connection | None:
        """One that is connected already, if there is one."""
        while self._idle:
            connection = self._idle.pop()
            if connection.alive:
                return connection
        return None

    async def connect(self, limit_s: float) -> Connection:
        """A new one. Raises `Unreachable`."""
        loop = asyncio.get_running_loop()
        connection = Connection(loop, free=self._put, lost=self._lost)
        self._all.add(connection)
        try:
            await self._connect(connection, limit_s)
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Hangs up everywhere, wherever an answer is still due too."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for connection in list(self._all):
            connection.close()

    def _put(self, connection: Connection) -> None:
        """Called by a connection whose exchange is over."""
        if self._closed or not connection.reusable:
            connection.close()
            return
        loop = connection.loop
        connection.idle_since = loop.time()
        self._idle.append(connection)
        if len(self._idle) > self._most_idle:
            self._idle[0].close()
        if self._timer is None:
            self._timer = loop.call_later(self._idle_s, self._expire)

    def _lost(self, connection: Connection) -> None:
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def _expire(self) -> None:
        """Closes what has been idle for too long, and comes back when the next one will have."""
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._idle and self._left(loop) <= 0:
            self._idle[0].close()
        if self._idle:
            self._timer = loop.call_later(self._left(loop), self._expire)

    def _left(self, loop: asyncio.AbstractEventLoop) -> float:
        """Seconds that the one used longest ago may still be idle."""
        return self._idle[0].idle_since + self._idle_s - loop.time()

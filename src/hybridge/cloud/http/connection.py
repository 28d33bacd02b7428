"""One connection to an upstream, which carries one exchange at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import cast

from hybridge.cloud.http.alarm import Alarm
from hybridge.cloud.http.errors import Stale, TooSlow, Unreachable
from hybridge.cloud.http.response import Response

MAX_BODY_BYTES = 64 << 20
"""The longest body that is taken as a whole."""
MAX_WAITING_BYTES = 256 << 10
"""Of a stream: while more than this waits to be read, no more is taken from the socket."""
WRITE_BYTES = 256 << 10
"""A body longer than this is sent in pieces, each when the one before it has left."""
RACE_S = 1.0
"""A kept connection that is hung up later than this after a request went out was not closed while
that request was on its way: the server has read it, and perhaps worked on it."""
LINGER_S = 1.0
"""How long a stream whose last word was read may take to say that it has ended."""


class Connection(asyncio.Protocol):
    """Give it to `Route.connect`; `ask`, then `read` while the answer is a stream.

    All that waits raises `Unreachable` or `TooSlow`, and hangs up when it does, or is cancelled.
    Times are the loop's.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        free: Callable[[Connection], None],
        lost: Callable[[Connection], None],
    ) -> None:
        self.idle_since = inf
        """When its last exchange ended."""
        self.loop = loop
        self._free = free
        self._lost = lost
        self._alarm = Alarm(loop, self._too_slow)
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._failure: Exception | None = None
        self._response = Response()
        self._response.complete = True  # nothing has been asked yet
        self._response.close()
        self._used = False
        self._asked_at = 0.0
        self._streams = False
        self._lingers = False
        self._clogged = False
        self._paused = False
        self._sent = True

    @property
    def alive(self) -> bool:
        """Whether it can still be used."""
        transport = self._transport
        return self._failure is None and transport is not None and not transport.is_closing()

    @property
    def reusable(self) -> bool:
        """Whether its last exchange is over, and another may follow."""
        return (
            self._response.reusable
            and self._sent
            and self.alive
            and cast("asyncio.Transport", self._transport).get_write_buffer_size() == 0
        )

    async def ask(self, head: bytes, body: bytes, until: float, *, stream: bool) -> Response:
        """Sends, and gives the whole answer, or a stream's head. Raises `Stale`, too."""
        if self._failure is not None:
            raise self._failed()
        self._response = response = Response()
        self._streams, self._sent = stream, False
        self._asked_at = self.loop.time()
        try:
            await self._send(head, body, until)
            while not (response.complete or (stream and response.status)):
                await self._wait(until)
        finally:
            self._used = True
        return response

    async def read(self, until: float) -> bytes:
        """All that has come since, at least a byte; nothing at the end of the body."""
        response = self._response
        while not response.pieces:
            if response.complete:
                return b""
            await self._wait(until)
        return self.take()

    def take(self) -> bytes:
        """What has come and was not read."""
        data = self._response.take()
        self._resume()
        return data

    def release(self) -> None:
        """Nobody reads on: `free` is called if the answer is complete, or else it hangs up."""
        if self._response.complete:
            self._resume()
            self._free(self)
        else:
            self.close()

    def let_end(self) -> None:
        """The same, but first it waits in the background for an end that is due."""
        if self._response.complete or not self.alive:
            self.release()
            return
        self._lingers = True
        self._resume()
        self._alarm.set(self.loop.time() + LINGER_S)

    def close(self, why: Exception | None = None) -> None:
        """Hangs up at once. Whoever waits is told `why`."""
        if self._failure is not None:
            return
        self._failure = _bare(why or Unreachable("closed"))
        self._alarm.close()
        self._response.close()
        if self._transport is not None:
            self._transport.abort()
        self._wake()
        self._lost(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if self._failure is not None:  # closed before it stood
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        response = self._response
        if response.complete:
            self.close(Unreachable("said what nobody asked for"))
            return
        try:
            response.feed(data)
        except Unreachable as error:
            self.close(error)
            return
        if self._lingers:
            self._end_lingering(response)
        elif self._streams:
            self._hold_back(response)
            self._wake()
        elif response.waiting > MAX_BODY_BYTES:
            self.close(Unreachable("sent a body that is too large"))
        elif response.complete or self._clogged:
            self._wake()

    def eof_received(self) -> None:
        self._hung_up(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._hung_up(exc)

    def pause_writing(self) -> None:
        self._clogged = True

    def resume_writing(self) -> None:
        self._clogged = False
        self._wake()

    async def _send(self, head: bytes, body: bytes, until: float) -> None:
        transport = cast("asyncio.Transport", self._transport)
        if len(body) <= WRITE_BYTES:
            transport.write(head + body)
            self._sent = True
            return
        transport.write(head)
        view = memoryview(body)
        for start in range(0, len(view), WRITE_BYTES):
            transport.write(view[start : start + WRITE_BYTES])
            while self._clogged:
                if self._response.status >= 300:
                    return  # refused: nobody will read the rest (RFC 9112, 9.5)
                await self._wait(until)
        self._sent = True

    async def _wait(self, until: float) -> None:
        """Until something has happened."""
        if self._failure is not None:
            raise self._failed()
        self._waiter = waiter = self.loop.create_future()
        self._alarm.set(until)
        try:
            await waiter
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            self._waiter = None
            self._alarm.clear()

    def _failed(self) -> Exception:
        """Why it hung up, anew: raised, the one that is kept would lead back to whoever keeps it,
        by the frames that it passed through."""
        kept = cast("Exception", self._failure)
        failure = type(kept)(*kept.args)
        failure.__cause__ = kept.__cause__
        return failure

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _end_lingering(self, response: Response) -> None:
        response.take()
        if response.complete:
            self._lingers = False
            self._alarm.clear()
            self._free(self)

    def _hold_back(self, response: Response) -> None:
        if response.waiting > MAX_WAITING_BYTES and not self._paused:
            self._paused = True
            cast("asyncio.Transport", self._transport).pause_reading()

    def _resume(self) -> None:
        if self._paused and self.alive:
            self._paused = False
            cast("asyncio.Transport", self._transport).resume_reading()

    def _too_slow(self) -> None:
        self.close(TooSlow("no answer in time"))

    def _hung_up(self, error: Exception | None) -> None:
        if self._failure is not None:
            return  # it was this end that hung up
        response = self._response
        if error is None:
            response.end()
        stale = self._used and not response.received
        stale = stale and self.loop.time() - self._asked_at < RACE_S
        why = (Stale if stale else Unreachable)("hung up")
        why.__cause__ = error
        self.close(why)


def _bare(failure: Exception) -> Exception:
    """The error, and those that led to it, without the frames that they passed through."""
    error: BaseException | None = failure
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
    return failure

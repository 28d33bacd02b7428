"""One backend's answer under way: what is held back, and what still comes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from hybridge.core.assembly import assemble
from hybridge.core.backend import BackendSpec, Call
from hybridge.core.clock import Clock
from hybridge.core.errors import BackendError, Fault
from hybridge.core.plan import Attempt
from hybridge.core.response import Chunk, Completion, Event, Token, Usage
from hybridge.execution.opinion import Opinion
from hybridge.execution.permit import Permit

TOKEN_S = 0.02
"""What writing a token of a whole answer may take: its first byte is not seen, and a long answer is
not a slow backend. Common clouds write more than 50 tokens a second."""


class Answer:
    """Reads a backend's events one by one, remembers what was said, and tells the breaker.

    Events that were read ahead are held and come first when the answer is iterated. Iterating and
    `fetch` raise `BackendError` when the backend fails; `aclose` stops the work behind it at once.
    """

    confidence: float | None = None
    """As judged when it was last appraised; None while nothing is known."""
    finish_reason: str | None = None
    usage: Usage | None = None
    first_event_s: float | None = None
    """Seconds from asking to the first event."""
    first_byte_s = 0.0
    """The same for a stream; of a whole answer, as far as it was not spent on writing it."""
    pieces = 0
    """Events so far. A stream's are about one token each, whatever they carry."""
    over = False
    """Whether the last event has been read."""
    second: Opinion | None = None
    """What a second answer to the same request says of it; None where none was heard."""

    def __init__(
        self,
        attempt: Attempt,
        spec: BackendSpec,
        source: AsyncGenerator[Event, None],
        call: Call,
        permit: Permit,
        clock: Clock,
        appraise: Callable[[Answer], float | None],
        *,
        keep: bool = True,
    ) -> None:
        self.attempt = attempt
        self.spec = spec
        self.model = spec.model
        """The model's name as the backend gives it."""
        self.tokens: list[Token] = []
        self.seen: list[Event] = []
        """The events so far, where they are kept: those that may be given again, or compared."""
        self._texts: list[str] = []
        self._held: deque[Event] = deque()
        self._source = source
        self._call = call
        self._permit = permit
        self._clock = clock
        self._appraise = appraise
        self._keep = keep
        self._asked_s = self._latest_s = clock.monotonic()

    @property
    def version(self) -> str:
        """Of the weights that answer it: a backend may have two for a while."""
        return self._call.request.trail.version(self.spec.name, self.spec.version)

    @property
    def elapsed_ms(self) -> float:
        """From asking to the latest event."""
        return 1000 * (self._latest_s - self._asked_s)

    @property
    def text(self) -> str:
        """What choice 0 said so far."""
        return "".join(self._texts)

    @property
    def complete(self) -> bool:
        """Whether it came to its own end, so that nothing is missing from it."""
        return self.over and self.finish_reason is not None

    def whole(self) -> Completion | None:
        """All of it in one piece; None while it is not complete, or where it was not kept."""
        if not self.complete or not self.seen:
            return None
        first = self.seen[0]
        if isinstance(first, Completion):
            return first
        return assemble([event for event in self.seen if isinstance(event, Chunk)])

    def appraise(self) -> float | None:
        """Judges what was said so far; done once more by itself when the answer is over."""
        self.confidence = self._appraise(self)
        return self.confidence

    async def hold(self, *, within_s: float | None = None) -> Event | None:
        """Reads one event ahead and holds it back; None when there is none left.

        `within_s` is for an attempt that must leave time for others; the deadline of the whole
        request is the backend's own to keep (see `core.backend.Backend`).
        """
        event = await self._fetch(within_s)
        if event is not None:
            self._held.append(event)
        return event

    def __aiter__(self) -> Answer:
        return self

    async def __anext__(self) -> Event:
        if self._held:
            return self._held.popleft()
        event = await self._fetch(None)
        if event is None:
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """Stops the backend. Safe to call at any time and more than once."""
        if not self.over:
            self.over = True
            self._permit.abandon()
        with suppress(BackendError):
            await self._source.aclose()

    async def _fetch(self, within_s: float | None) -> Event | None:
        if self.over:
            return None
        try:
            if within_s is None:
                event = await anext(self._source, None)
            else:
                async with asyncio.timeout(within_s):
                    event = await anext(self._source, None)
        except TimeoutError as late:
            self.over = True
            self._permit.failed(Fault.TIMEOUT, None)
            raise self._timed_out() from late
        except BackendError as error:
            self.over = True
            self._permit.failed(error.fault, error.retry_after_s)
            raise
        if event is None:
            self._ended()
        else:
            self._note(event)
        return event

    def _note(self, event: Event) -> None:
        self._latest_s = self._clock.monotonic()
        self.pieces += 1
        if self.first_event_s is None:
            self._begin(event)
        if self._keep:
            self.seen.append(event)
        if event.text:
            self._texts.append(event.text)
        if event.tokens:
            self.tokens.extend(event.tokens)
        if event.finish_reason:
            self.finish_reason = event.finish_reason
        if event.usage:
            self.usage = event.usage
        if event.model:
            self.model = event.model
        if isinstance(event, Completion):
            self.first_byte_s = max(0.0, self.first_byte_s - TOKEN_S * self._written())
            self._ended()

    def _begin(self, event: Event) -> None:
        self.first_event_s = self.first_byte_s = self._latest_s - self._asked_s
        if isinstance(event, Chunk):
            self._permit.began(self.first_byte_s)

    def _written(self) -> int:
        """Tokens, roughly, where the backend does not count."""
        return len(self.text) // 4 if self.usage is None else self.usage.completion_tokens

    def _ended(self) -> None:
        if self.over:
            return
        self.over = True
        if self.pieces:
            self._permit.succeeded(self.first_byte_s)
            self.appraise()
        else:
            self._permit.failed(Fault.PROTOCOL, None)

    def _timed_out(self) -> BackendError:
        what = "did not begin to answer" if self.first_event_s is None else "stopped answering"
        return BackendError(
            f"{self.spec.name} {what} in time", backend=self.spec.name, fault=Fault.TIMEOUT
        )

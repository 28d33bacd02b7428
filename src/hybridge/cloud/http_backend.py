"""A model behind HTTP: a provider far away, or a server next door."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TypeVar

from hybridge.cloud import faults
from hybridge.cloud.classified import Classified
from hybridge.cloud.dialect import Dialect
from hybridge.cloud.tolerance import PLAIN, Manner, Tolerance, kind_of, may_be_the_manner
from hybridge.cloud.transport import Stream, Transport
from hybridge.core.assembly import as_chunks
from hybridge.core.backend import BackendSpec, Call
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.response import Completion, Event

PROBE_S = 5.0
_GATEWAY_ERRORS = (502, 503, 504)
"""Statuses by which something on the way, or a server that still loads, says `not now`."""
Got = TypeVar("Got")


class HttpBackend:
    """Implements `core.backend.Backend` over HTTP, in the dialect it is given, for both tiers."""

    def __init__(
        self,
        spec: BackendSpec,
        transport: Transport,
        dialect: Dialect,
        *,
        redact: Redactor,
        clock: Clock,
    ) -> None:
        self._spec = spec
        self._transport = transport
        self._dialect = dialect
        self._redact = redact
        self._clock = clock
        self._tolerance = Tolerance(clock)
        self._classified = Classified(spec.name, redact)

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The upstream's events. Raises `BackendError`."""
        return self._stream(call) if call.request.stream else self._whole(call)

    async def probe(self) -> None:
        """Asks for the list of models, which costs nothing; any answer shows that it is there."""
        with self._classified:
            reply = await self._transport.get("/models", Deadline.after(PROBE_S, self._clock))
        if reply.status in _GATEWAY_ERRORS:
            raise self._refused(reply.status, reply.headers, reply.body)

    async def _whole(self, call: Call) -> AsyncGenerator[Event, None]:
        completion, _ = await self._persuaded(call, self._complete)
        yield completion

    async def _complete(self, call: Call, manner: Manner) -> Completion:
        with self._classified:
            body = self._dialect.body(call, manner)
            reply = await self._transport.post(self._dialect.path, body, call.deadline)
            if reply.status != 200:
                raise self._refused(reply.status, reply.headers, reply.body)
            return self._dialect.completion(reply.body, call, manner)

    async def _stream(self, call: Call) -> AsyncGenerator[Event, None]:
        with self._classified:
            stream, manner = await self._persuaded(call, self._begun)
            reader = self._dialect.reader(call, manner)
            with stream:
                if "json" in stream.content_type:
                    whole = self._dialect.completion(await stream.rest(), call, manner)
                    for chunk in as_chunks(whole):
                        yield chunk
                    return
                while not reader.done and (piece := await stream.read()):
                    for chunk in reader.feed(piece):
                        yield chunk
                for chunk in reader.close():
                    yield chunk
                stream.let_end()
        if not reader.finished:
            what = f"{self._spec.name}: ended its stream before the answer was finished"
            raise BackendError(what, backend=self._spec.name, fault=Fault.PROTOCOL)

    async def _begun(self, call: Call, manner: Manner) -> Stream:
        """The stream, once the upstream has agreed to give one."""
        body = self._dialect.body(call, manner)
        stream = await self._transport.stream(self._dialect.path, body, call.deadline)
        if stream.status == 200:
            return stream
        with stream:
            raise self._refused(stream.status, stream.headers, await stream.rest())

    async def _persuaded(
        self, call: Call, ask: Callable[[Call, Manner], Awaitable[Got]]
    ) -> tuple[Got, Manner]:
        """What `ask` gives, and how it had to be asked: once as far as is known to be right, then
        once more for each thing that may explain a refusal."""
        manner, step = self._tolerance.manner, PLAIN
        while True:
            try:
                got = await ask(call, manner)
            except BackendError as error:
                if not may_be_the_manner(error):
                    raise
                suspects = self._dialect.suspects(error, self._dialect.alterable(call, manner))
                step = self._tolerance.next(suspects, manner)
                if not step:
                    raise
                manner |= step
            else:
                self._learn(call, manner, step)
                return got, manner

    def _learn(self, call: Call, manner: Manner, step: Manner) -> None:
        """Only the last step is known to have been needed."""
        if step:
            self._tolerance.helped(step)
        elif not self._tolerance.knows(kind := kind_of(call)):
            self._tolerance.accepted(kind, self._dialect.alterable(call, manner))

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> BackendError:
        return faults.of_response(self._spec.name, status, headers, body, self._redact)

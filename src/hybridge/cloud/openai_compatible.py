"""Any server that speaks the chat-completions format: a provider far away, or Ollama next door."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager

from hybridge.cloud import faults
from hybridge.cloud.chunks import ChunkReader
from hybridge.cloud.extras import NONE, Extra, Extras, Tolerance
from hybridge.cloud.outgoing import outgoing
from hybridge.cloud.providers import LimitField
from hybridge.cloud.sse import EventTooLarge
from hybridge.cloud.tool_calls import mend
from hybridge.cloud.transport import TooSlow, Transport, Unreachable
from hybridge.core import wire
from hybridge.core.assembly import as_chunks
from hybridge.core.backend import BackendSpec, Call
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BackendError, Fault
from hybridge.core.redaction import Redactor
from hybridge.core.response import Chunk, Completion, Event

PATH = "/chat/completions"
PROBE_S = 5.0
_GATEWAY_ERRORS = (502, 503, 504)
"""Statuses by which something on the way, or a server that still loads, says `not now`."""


class OpenAICompatible:
    """Implements `core.backend.Backend` over HTTP, for both tiers."""

    def __init__(
        self,
        spec: BackendSpec,
        transport: Transport,
        *,
        limit_field: LimitField,
        redact: Redactor,
        clock: Clock,
    ) -> None:
        self._spec = spec
        self._transport = transport
        self._limit_field: LimitField = limit_field
        self._redact = redact
        self._clock = clock
        self._tolerance = Tolerance()

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The upstream's events, their bytes untouched. Raises `BackendError`."""
        extras = self._tolerance.wanted(call)
        try:
            async with aclosing(self._ask(call, extras)) as events:
                async for event in events:
                    self._tolerance.accepted(extras)
                    yield event
        except BackendError as error:
            if not self._tolerance.may_explain(error, extras):
                raise
        else:
            return
        async with aclosing(self._ask(call, NONE)) as events:
            async for event in events:
                self._tolerance.refused(extras)
                yield event

    async def probe(self) -> None:
        """Asks for the list of models, which costs nothing; any answer shows that it is there."""
        with self._classified():
            reply = await self._transport.get("/models", Deadline.after(PROBE_S, self._clock))
        if reply.status in _GATEWAY_ERRORS:
            raise self._refused(reply.status, reply.headers, reply.body)

    def _ask(self, call: Call, extras: Extras) -> AsyncGenerator[Event, None]:
        body = outgoing(call, self._spec.model, self._limit_field, extras)
        events = self._stream(call, body) if call.request.stream else self._whole(call, body)
        return _hidden(events) if Extra.LOGPROBS in extras else events

    async def _whole(self, call: Call, body: bytes) -> AsyncGenerator[Completion, None]:
        with self._classified():
            reply = await self._transport.post(PATH, body, call.deadline)
            if reply.status != 200:
                raise self._refused(reply.status, reply.headers, reply.body)
            completion = mend(wire.completion(reply.body), call.request.id)
        yield completion

    async def _stream(self, call: Call, body: bytes) -> AsyncGenerator[Chunk, None]:
        with self._classified():
            async with self._transport.stream(PATH, body, call.deadline) as stream:
                if stream.status != 200:
                    raise self._refused(stream.status, stream.headers, await stream.rest())
                if "json" in stream.content_type:
                    whole = mend(wire.completion(await stream.rest()), call.request.id)
                    for chunk in as_chunks(whole):
                        yield chunk
                    return
                reader = ChunkReader(call.request.id)
                async for piece in stream.pieces():
                    for chunk in reader.feed(piece):
                        yield chunk
                    if reader.done:
                        break
                for chunk in reader.close():
                    yield chunk
        if not reader.finished:
            raise self._error("ended its stream before the answer was finished", Fault.PROTOCOL)

    @contextmanager
    def _classified(self) -> Iterator[None]:
        try:
            yield
        except TooSlow as error:
            raise self._error(str(error), Fault.TIMEOUT) from error
        except Unreachable as error:
            raise self._error(str(error), Fault.NETWORK) from error
        except wire.ErrorInBand as error:
            raise faults.in_band(self._spec.name, error.body, self._redact) from error
        except (wire.Malformed, EventTooLarge) as error:
            raise self._error("said something that is no answer", Fault.PROTOCOL) from error

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> BackendError:
        return faults.of_response(self._spec.name, status, headers, body, self._redact)

    def _error(self, what: str, fault: Fault) -> BackendError:
        return BackendError(f"{self._spec.name}: {what}", backend=self._spec.name, fault=fault)


async def _hidden(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """Without the log-probabilities that the caller did not ask for."""
    async with aclosing(events):
        async for event in events:
            yield wire.hide_logprobs(event)

"""Any server that speaks the chat-completions format: a provider far away, or Ollama next door."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from hybridge.cloud import faults
from hybridge.cloud.chunks import ChunkReader
from hybridge.cloud.extras import NONE, Extra, Extras, Tolerance
from hybridge.cloud.outgoing import outgoing
from hybridge.cloud.providers import LimitField
from hybridge.cloud.sse import EventTooLarge
from hybridge.cloud.tool_calls import mend
from hybridge.cloud.transport import Stream, TooSlow, Transport, Unreachable
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
        self._classified = _Classified(spec.name, redact)

    @property
    def spec(self) -> BackendSpec:
        return self._spec

    def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The upstream's events, their bytes untouched. Raises `BackendError`."""
        return self._stream(call) if call.request.stream else self._whole(call)

    async def probe(self) -> None:
        """Asks for the list of models, which costs nothing; any answer shows that it is there."""
        with self._classified:
            reply = await self._transport.get("/models", Deadline.after(PROBE_S, self._clock))
        if reply.status in _GATEWAY_ERRORS:
            raise self._refused(reply.status, reply.headers, reply.body)

    async def _whole(self, call: Call) -> AsyncGenerator[Event, None]:
        extras = self._tolerance.wanted(call)
        try:
            completion = await self._complete(call, extras)
        except BackendError as error:
            if not self._tolerance.may_explain(error, extras):
                raise
            completion = await self._complete(call, NONE)
            self._tolerance.refused(extras)
        else:
            self._tolerance.accepted(extras)
        yield wire.hide_logprobs(completion) if Extra.LOGPROBS in extras else completion

    async def _complete(self, call: Call, extras: Extras) -> Completion:
        with self._classified:
            reply = await self._transport.post(PATH, self._body(call, extras), call.deadline)
            if reply.status != 200:
                raise self._refused(reply.status, reply.headers, reply.body)
            return mend(wire.completion(reply.body), call.request.id)

    async def _stream(self, call: Call) -> AsyncGenerator[Event, None]:
        with self._classified:
            stream, extras = await self._begun(call)
            reader = ChunkReader(call.request.id, hide_logprobs=Extra.LOGPROBS in extras)
            with stream:
                if "json" in stream.content_type:
                    for chunk in await self._in_pieces(stream, call):
                        yield chunk
                    return
                while not reader.done and (piece := await stream.read()):
                    for chunk in reader.feed(piece):
                        yield chunk
                for chunk in reader.close():
                    yield chunk
                stream.let_end()
        if not reader.finished:
            what = "ended its stream before the answer was finished"
            raise _failed(self._spec.name, what, Fault.PROTOCOL)

    async def _begun(self, call: Call) -> tuple[Stream, Extras]:
        """The stream, once the upstream has agreed to give one, and the extras in it."""
        extras = self._tolerance.wanted(call)
        try:
            stream = await self._accepted(call, extras)
        except BackendError as error:
            if not self._tolerance.may_explain(error, extras):
                raise
            stream = await self._accepted(call, NONE)
            self._tolerance.refused(extras)
            return stream, NONE
        self._tolerance.accepted(extras)
        return stream, extras

    async def _accepted(self, call: Call, extras: Extras) -> Stream:
        stream = await self._transport.stream(PATH, self._body(call, extras), call.deadline)
        if stream.status == 200:
            return stream
        with stream:
            raise self._refused(stream.status, stream.headers, await stream.rest())

    async def _in_pieces(self, stream: Stream, call: Call) -> list[Chunk]:
        """A whole answer where a stream was asked for, as the stream would have told it."""
        return as_chunks(mend(wire.completion(await stream.rest()), call.request.id))

    def _body(self, call: Call, extras: Extras) -> bytes:
        return outgoing(call, self._spec.model, self._limit_field, extras)

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> BackendError:
        return faults.of_response(self._spec.name, status, headers, body, self._redact)


class _Classified:
    """Around the talk with an upstream: whatever goes wrong in it becomes a `BackendError`."""

    def __init__(self, backend: str, redact: Redactor) -> None:
        self._backend = backend
        self._redact = redact

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        match error:
            case None:
                return
            case TooSlow():
                raise _failed(self._backend, str(error), Fault.TIMEOUT) from error
            case Unreachable():
                raise _failed(self._backend, str(error), Fault.NETWORK) from error
            case wire.ErrorInBand():
                raise faults.in_band(self._backend, error.body, self._redact) from error
            case wire.Malformed() | EventTooLarge():
                what = "said something that is no answer"
                raise _failed(self._backend, what, Fault.PROTOCOL) from error
            case _:
                return


def _failed(backend: str, what: str, fault: Fault) -> BackendError:
    return BackendError(f"{backend}: {what}", backend=backend, fault=fault)

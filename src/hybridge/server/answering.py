"""The story of one answer, in whatever vocabulary it was asked for."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.core.clock import Clock
from hybridge.core.errors import BackendError, Fault, HybridgeError, RequestError
from hybridge.core.response import Chunk, Completion
from hybridge.server.drain import Drain
from hybridge.server.exchange import Endpoint, Exchange, Response
from hybridge.server.gateway_port import GatewayPort, Reply
from hybridge.server.report import as_headers, as_json
from hybridge.server.shapes.chat.parse import read_request
from hybridge.server.shapes.shape import Asked, Asker, Shape, Writer
from hybridge.server.terms import Terms

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Answering:
    """Reads a request, lets the gateway serve it, writes the answer as it comes."""

    def __init__(self, gateway: GatewayPort, terms: Terms, drain: Drain, clock: Clock) -> None:
        self._gateway = gateway
        self._terms = terms
        self._drain = drain
        self._clock = clock

    def endpoint(self, shape: Shape) -> Endpoint:
        """Answers in `shape`, streaming or not. Raises `HybridgeError`, also mid-stream."""

        async def answer(exchange: Exchange) -> None:
            asked = shape.read(*await self._read(exchange))
            exchange.last_words = asked.writer.failed
            await self._answer(exchange, asked)

        return answer

    async def explain(self, exchange: Exchange) -> None:
        """`POST /v1/route`: the decision about a chat request; nothing is run (R10)."""
        request = read_request(*await self._read(exchange))
        with self._drain.admit(exchange):
            report = await self._gateway.explain(request)
            await exchange.respond(Response(200, as_json(report), as_headers(report)))

    async def _read(self, exchange: Exchange) -> tuple[dict[str, Any], Asker]:
        tenant = self._terms.keys.tenant(exchange.headers)
        body = await exchange.body(self._terms.body_limit, self._terms.client_timeout_s)
        received_s = self._clock.monotonic()
        return json_object(body), Asker(exchange.id, tenant, exchange.headers, received_s)

    async def _answer(self, exchange: Exchange, asked: Asked) -> None:
        request = asked.request
        with self._drain.admit(exchange, stream=request.stream):
            async with self._gateway.serve(request) as reply:
                if request.stream:
                    await self._stream(exchange, reply, asked.writer)
                else:
                    await self._whole(exchange, reply, asked.writer)

    async def _whole(self, exchange: Exchange, reply: Reply, writer: Writer) -> None:
        answer = await anext(reply.events, None)
        if not isinstance(answer, Completion):
            raise _broken_off("no whole answer came")
        report = reply.report()
        told = as_json(report) if self._terms.report_in_body else None
        body = writer.whole(answer, reply.usage, told)
        await exchange.respond(Response(200, body, as_headers(report)))

    async def _stream(self, exchange: Exchange, reply: Reply, writer: Writer) -> None:
        ready = list[bytes]()
        await exchange.begin_stream(as_headers(reply.report()))
        try:
            await _pass_on(exchange, reply, writer, ready)
        except HybridgeError:
            if ready:
                await exchange.write(b"".join(ready))
            raise
        told = as_json(reply.report()) if self._terms.report_in_body else None
        await exchange.end(b"".join([*ready, writer.end(reply.usage, told)]))


def json_object(body: bytes) -> dict[str, Any]:
    """The object that a request's body is. Raises `RequestError`."""
    try:
        return _decode(body)
    except msgspec.ValidationError as error:
        raise RequestError("the body must be a JSON object", code="invalid_json") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(f"the body is not JSON: {error}", code="invalid_json") from error
    except RecursionError as error:
        raise RequestError("the body is nested too deeply", code="invalid_json") from error


async def _pass_on(exchange: Exchange, reply: Reply, writer: Writer, ready: list[bytes]) -> None:
    """Writes the events as they come; those that came together go out in one piece.

    What was there at the end is left in `ready`, for the last words to go with it.
    """
    async for chunk in reply.events:
        if not isinstance(chunk, Chunk):
            continue
        told = writer.chunk(chunk)
        if told:
            ready.append(told)
        if ready and not chunk.more:
            await exchange.write(b"".join(ready))
            ready.clear()
    if not writer.finished:
        raise _broken_off("the stream ended before its answer did")


def _broken_off(what: str) -> BackendError:
    return BackendError(what, backend="", fault=Fault.PROTOCOL)

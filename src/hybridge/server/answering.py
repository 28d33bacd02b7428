"""The story of one answer, in whatever vocabulary it was asked for."""

from __future__ import annotations

from hybridge.core.errors import BackendError, Fault, HybridgeError
from hybridge.core.report import Report
from hybridge.core.response import Chunk, Completion
from hybridge.server.drain import Drain
from hybridge.server.exchange import Endpoint, Exchange, Header, Response
from hybridge.server.gateway_port import GatewayPort, Reply
from hybridge.server.intake import Intake
from hybridge.server.report import as_headers, as_json, rate_headers
from hybridge.server.shapes.chat.parse import read_request
from hybridge.server.shapes.shape import Asked, Shape, Writer


class Answering:
    """Reads a request, lets the gateway serve it, writes the answer as it comes."""

    def __init__(self, gateway: GatewayPort, intake: Intake, drain: Drain) -> None:
        self._gateway = gateway
        self._intake = intake
        self._drain = drain

    def endpoint(self, shape: Shape) -> Endpoint:
        """Answers in `shape`, streaming or not. Raises `HybridgeError`, also mid-stream."""

        async def answer(exchange: Exchange) -> None:
            with self._drain.admit(exchange) as line:
                asked = shape.read(*await self._intake.read(exchange))
                exchange.last_words = asked.writer.failed
                line.answer(stream=asked.request.stream)
                await self._answer(exchange, asked)

        return answer

    async def explain(self, exchange: Exchange) -> None:
        """`POST /v1/route`: the decision about a chat request; nothing is run (R10)."""
        with self._drain.admit(exchange) as line:
            request = read_request(*await self._intake.read(exchange))
            line.answer()
            report = await self._gateway.explain(request)
            await exchange.respond(Response(200, as_json(report), as_headers(report)))

    async def _answer(self, exchange: Exchange, asked: Asked) -> None:
        async with self._gateway.serve(asked.request) as reply:
            if asked.request.stream:
                await self._stream(exchange, reply, asked.writer)
            else:
                await self._whole(exchange, reply, asked.writer)

    async def _whole(self, exchange: Exchange, reply: Reply, writer: Writer) -> None:
        answer = await anext(reply.events, None)
        if not isinstance(answer, Completion):
            raise _broken_off("no whole answer came")
        report = reply.report()
        told = as_json(report) if self._intake.terms.report_in_body else None
        body = writer.whole(answer, reply.usage, told)
        await exchange.respond(Response(200, body, _headers(report, reply)))

    async def _stream(self, exchange: Exchange, reply: Reply, writer: Writer) -> None:
        ready = list[bytes]()
        await exchange.begin_stream(_headers(reply.report(), reply))
        try:
            await _pass_on(exchange, reply, writer, ready)
        except HybridgeError:
            if ready:
                await exchange.write(b"".join(ready))
            raise
        told = as_json(reply.report()) if self._intake.terms.report_in_body else None
        await exchange.end(b"".join([*ready, writer.end(reply.usage, told)]))


def _headers(report: Report, reply: Reply) -> list[Header]:
    headers, rates = as_headers(report), reply.rates
    return [*headers, *rate_headers(rates)] if rates else headers


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

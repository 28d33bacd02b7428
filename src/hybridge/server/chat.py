"""`POST /v1/chat/completions`: the story of one chat request."""

from __future__ import annotations

import msgspec

from hybridge.core.clock import Clock
from hybridge.core.errors import BackendError, Fault, HybridgeError
from hybridge.core.request import Request
from hybridge.core.response import Chunk, Completion
from hybridge.core.wire import splice
from hybridge.server import sse
from hybridge.server.auth import Keys
from hybridge.server.config import ServerConfig
from hybridge.server.drain import Drain
from hybridge.server.ending import REPORT, UNUSED, Ending, usage_object
from hybridge.server.exchange import Exchange, Response
from hybridge.server.gateway_port import GatewayPort, Reply
from hybridge.server.parse import read_request
from hybridge.server.report import as_headers, as_json


class Chat:
    """Reads the request, lets the gateway serve it, writes the answer as it comes."""

    def __init__(
        self, gateway: GatewayPort, keys: Keys, drain: Drain, config: ServerConfig, clock: Clock
    ) -> None:
        self._gateway = gateway
        self._keys = keys
        self._drain = drain
        self._limit = int(config.max_body_mb * 2**20)
        self._report_in_body = config.report_in_body
        self._clock = clock

    async def complete(self, exchange: Exchange) -> None:
        """Answers a chat request, streaming or not. Raises `HybridgeError`, also mid-stream."""
        request = await self._read(exchange)
        with self._drain.admit(exchange):
            async with self._gateway.serve(request) as reply:
                if request.stream:
                    await self._stream(exchange, reply, request)
                else:
                    await self._whole(exchange, reply)

    async def explain(self, exchange: Exchange) -> None:
        """`POST /v1/route`: the decision about a chat request; nothing is run (R10)."""
        request = await self._read(exchange)
        with self._drain.admit(exchange):
            report = await self._gateway.explain(request)
            await exchange.respond(Response(200, as_json(report), as_headers(report)))

    async def _read(self, exchange: Exchange) -> Request:
        tenant = self._keys.tenant(exchange.headers)
        body = await exchange.body(self._limit)
        return read_request(body, exchange, tenant, self._clock.monotonic())

    async def _whole(self, exchange: Exchange, reply: Reply) -> None:
        answer = await anext(reply.events, None)
        if not isinstance(answer, Completion):
            raise _broken_off("no whole answer came")
        report, wire = reply.report(), answer.wire
        if answer.usage is None:
            wire = _with_usage(wire, reply)
        if self._report_in_body:
            wire = splice(wire, REPORT, as_json(report))
        await exchange.respond(Response(200, wire, as_headers(report)))

    async def _stream(self, exchange: Exchange, reply: Reply, request: Request) -> None:
        ending, ready = Ending(with_usage=request.include_usage), list[bytes]()
        await exchange.begin_stream(as_headers(reply.report()))
        try:
            await _pass_on(exchange, reply, ending, ready)
        except HybridgeError:
            if ready:
                await exchange.write(b"".join(ready))
            raise
        report = as_json(reply.report()) if self._report_in_body else None
        last = ending.close(reply.usage, report)
        await exchange.end(b"".join([*ready, *map(sse.event, last), sse.DONE]))


async def _pass_on(exchange: Exchange, reply: Reply, ending: Ending, ready: list[bytes]) -> None:
    """Writes the events as they come; those that came together go out in one piece.

    What was there at the end is left in `ready`, for the last words to go with it.
    """
    async for chunk in reply.events:
        if not isinstance(chunk, Chunk):
            continue
        wire = ending.take(chunk)
        if wire is not None:
            ready.append(sse.event(wire))
        if ready and not chunk.more:
            await exchange.write(b"".join(ready))
            ready.clear()
    if not ending.finished:
        raise _broken_off("the stream ended before its answer did")


def _with_usage(wire: bytes, reply: Reply) -> bytes:
    usage = msgspec.json.encode(usage_object(reply.usage))
    return splice(wire.replace(UNUSED, b""), "usage", usage)


def _broken_off(what: str) -> BackendError:
    return BackendError(what, backend="", fault=Fault.PROTOCOL)

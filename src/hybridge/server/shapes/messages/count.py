"""`POST /v1/messages/count_tokens`: what a request would cost, without asking any model."""

from __future__ import annotations

import msgspec

from hybridge.server.drain import Drain
from hybridge.server.exchange import Exchange, Response
from hybridge.server.gateway_port import GatewayPort
from hybridge.server.intake import Intake
from hybridge.server.shapes.messages.shape import Messages


class CountTokens:
    """Estimates the tokens of a prompt, on the safe side: its text, tools and pictures."""

    def __init__(self, gateway: GatewayPort, intake: Intake, drain: Drain, shape: Messages) -> None:
        self._gateway = gateway
        self._intake = intake
        self._drain = drain
        self._shape = shape

    async def answer(self, exchange: Exchange) -> None:
        """Raises `RequestError` as a request of that kind would."""
        with self._drain.admit(exchange) as line:
            request = self._shape.prompt(*await self._intake.read(exchange))
            line.answer()
            counted = {"input_tokens": self._gateway.count_tokens(request)}
            await exchange.respond(Response(200, msgspec.json.encode(counted)))

"""Looks after one exchange: does its body arrive, is its answer silent, does anybody read it?"""

from __future__ import annotations

import asyncio

from hybridge.core.errors import RequestError
from hybridge.server.exchange import Exchange, Gone
from hybridge.server.terms import Terms

SLOWEST_BODY = 10
"""A body that comes in drops may take so many times a caller's longest pause in all."""


class Pulse:
    """Gives up callers who do not send their body or do not read their answer, and shows those of a
    slow stream that it is alive.

    `look` is called ten times a second for what is not over sooner, so that reading a body and
    passing events on cost nothing for it.
    """

    def __init__(self, exchange: Exchange, terms: Terms, since_s: float) -> None:
        """`since_s`: when the request came, on the loop's clock."""
        self._exchange = exchange
        self._terms = terms
        self._begun_s = self._since_s = since_s
        """`_since_s`: since when nothing came, or nothing was sent."""
        self._seen = 0
        """How many pieces had come, or had been sent, at the last look."""
        self._stream = False
        self._beating: asyncio.Task[None] | None = None
        self.arriving = True
        """Whether the body is still on its way."""

    def answer(self, now_s: float, *, stream: bool) -> None:
        """The body is there. `stream`: the answer comes as events."""
        self.arriving = False
        self._stream = stream
        self._seen, self._since_s = 0, now_s

    def look(self, now_s: float) -> Exception | None:
        """Why the caller is to be given up now, if so."""
        if self.arriving:
            return self._await(now_s)
        exchange = self._exchange
        silence_s = self._silence_s(exchange.sent, now_s)
        if exchange.sending:
            return None if silence_s < self._terms.client_timeout_s else Gone()
        wait_s = self._terms.keepalive_s if exchange.streaming else self._terms.early_headers_s
        if self._stream and wait_s is not None and silence_s >= wait_s:
            self._since_s = now_s
            self._beating = asyncio.create_task(exchange.comment())
        return None

    def _await(self, now_s: float) -> Exception | None:
        pause_s = self._terms.client_timeout_s
        silence_s = self._silence_s(self._exchange.arrived, now_s)
        if silence_s < pause_s and now_s - self._begun_s < SLOWEST_BODY * pause_s:
            return None
        return RequestError("the body did not arrive", code="request_timeout")

    def _silence_s(self, pieces: int, now_s: float) -> float:
        if pieces != self._seen:
            self._seen, self._since_s = pieces, now_s
        return now_s - self._since_s

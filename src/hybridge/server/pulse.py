"""Looks after one exchange while its request is worked on: is it silent, does anybody read?"""

from __future__ import annotations

import asyncio

from hybridge.server.exchange import Exchange
from hybridge.server.terms import Terms


class Pulse:
    """Shows callers of a slow stream that it is alive, and sees those who do not read.

    `look` is called ten times a second for what is not over sooner, so that passing events on
    costs nothing for it.
    """

    def __init__(self, exchange: Exchange, terms: Terms, *, stream: bool, since_s: float) -> None:
        self._exchange = exchange
        self._terms = terms
        self._stream = stream
        self._since_s = since_s
        """Since when nothing was sent, on the loop's clock."""
        self._sent = 0
        self._beating: asyncio.Task[None] | None = None

    def look(self, now_s: float) -> bool:
        """False once the caller has left an answer unread for too long."""
        exchange = self._exchange
        if exchange.sent != self._sent:
            self._sent, self._since_s = exchange.sent, now_s
        silence_s = now_s - self._since_s
        if exchange.sending:
            return silence_s < self._terms.client_timeout_s
        wait_s = self._terms.keepalive_s if exchange.streaming else self._terms.early_headers_s
        if self._stream and wait_s is not None and silence_s >= wait_s:
            self._since_s = now_s
            self._beating = asyncio.create_task(exchange.comment())
        return True

"""Which path is whose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from hybridge.core.errors import RequestError
from hybridge.server.errors import Failure, method_not_allowed
from hybridge.server.exchange import Endpoint, Exchange, as_openai_tells, respond_with

Tell = Callable[[Failure, str], bytes]


class Place(Struct, frozen=True):
    """What is at one path."""

    methods: Mapping[str, Endpoint]
    """By HTTP method."""
    failure: Tell = as_openai_tells
    """How errors are told there, also for a method that it does not take."""


class Routes:
    """Finds the endpoint of an exchange.

    A path may name parts, as in `/v1/models/{name}`; what stands there lies in
    `exchange.arguments`. The last part of a path may hold slashes.
    """

    def __init__(self, places: Mapping[str, Place]) -> None:
        self.places = places
        self._patterns = [(_pattern(path), place) for path, place in places.items() if "{" in path]

    def find(self, exchange: Exchange) -> Endpoint:
        """Raises `RequestError` with the code `not_found`."""
        place = self.places.get(exchange.path) or self._matching(exchange)
        exchange.failure = place.failure
        method = "GET" if exchange.method == "HEAD" else exchange.method
        return place.methods.get(method) or _refusing(tuple(place.methods))

    def _matching(self, exchange: Exchange) -> Place:
        for pattern, place in self._patterns:
            if (match := pattern.fullmatch(exchange.path)) is not None:
                exchange.arguments = match.groups()
                return place
        raise RequestError(f"there is nothing at {exchange.path}", code="not_found")


def _pattern(path: str) -> re.Pattern[str]:
    inner = re.sub(r"\{\w+\}(?=.)", "([^/]+)", path)
    return re.compile(re.sub(r"\{\w+\}$", "(.+)", inner), re.DOTALL)


def _refusing(methods: tuple[str, ...]) -> Endpoint:
    """Answers a method that a path does not take."""
    refused = method_not_allowed(", ".join(methods))

    async def refuse(exchange: Exchange) -> None:
        await respond_with(exchange, refused)

    return refuse

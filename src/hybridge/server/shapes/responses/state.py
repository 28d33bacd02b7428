"""Responses given earlier: `GET` and `DELETE /v1/responses/{id}`, and their input items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import msgspec

from hybridge.core.errors import RequestError
from hybridge.server.exchange import Exchange, Response
from hybridge.server.shapes.faults import UNKNOWN, unsupported
from hybridge.server.shapes.responses.fields import INCLUDABLE, invalid
from hybridge.server.shapes.responses.store import ResponsesStore, Turn, asked_of
from hybridge.server.terms import Terms

_MOST = 100
_DEFAULT = 20
"""Items of one page (source: OpenAI's reference)."""
_WHOLE = re.compile(r"[0-9]{1,9}")

Query = Mapping[str, list[str]]


class ResponseState:
    """Shows and forgets what `ResponsesStore` keeps. A tenant sees its own responses only."""

    def __init__(self, store: ResponsesStore, terms: Terms) -> None:
        self._store = store
        self._terms = terms

    async def one(self, exchange: Exchange) -> None:
        """`GET /v1/responses/{id}`: the response as it was told."""
        turn = self._turn(exchange)
        query = _query(exchange, ("include", "stream", "include_obfuscation", "starting_after"))
        if query.get("stream", ["false"])[-1].lower() != "false" or "starting_after" in query:
            raise unsupported("stream", "must be false: a stored response is given as a whole")
        await exchange.respond(Response(200, turn.told))

    async def delete(self, exchange: Exchange) -> None:
        """`DELETE /v1/responses/{id}`.

        Answers that were built on it keep what they were told; each has to be deleted itself.
        """
        turn = self._turn(exchange)
        self._store.remove(self._tenant(exchange), turn.id)
        body = {"id": turn.id, "object": "response", "deleted": True}
        await exchange.respond(Response(200, msgspec.json.encode(body)))

    async def input_items(self, exchange: Exchange) -> None:
        """`GET /v1/responses/{id}/input_items`: all that the answer was given to, page by page."""
        turn = self._turn(exchange)
        body = page(asked_of(turn), _query(exchange, ("include", "limit", "order", "after")))
        await exchange.respond(Response(200, msgspec.json.encode(body)))

    def _turn(self, exchange: Exchange) -> Turn:
        turn = self._store.find(self._tenant(exchange), exchange.arguments[0])
        if turn is None:
            raise RequestError("there is no response of that id", code="not_found")
        return turn

    def _tenant(self, exchange: Exchange) -> str:
        return self._terms.keys.tenant(exchange.headers)


def page(items: list[dict[str, Any]], query: Query) -> dict[str, Any]:
    """One page of a list. Raises `RequestError` that names the parameter at fault."""
    ordered = items if _order(query) == "asc" else items[::-1]
    rest = ordered[_after(ordered, query) :]
    data = rest[: _limit(query)]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": len(rest) > len(data),
    }


def _query(exchange: Exchange, known: tuple[str, ...]) -> Query:
    """The query's values by name; `name[]` is one of a list of `name`."""
    query: dict[str, list[str]] = {}
    for name, values in parse_qs(exchange.query, keep_blank_values=True).items():
        plain = name.removesuffix("[]")
        if plain not in known:
            raise unsupported(plain, "is not supported here", UNKNOWN)
        query.setdefault(plain, []).extend(values)
    if any(name not in INCLUDABLE for name in query.get("include", ())):
        raise invalid("include", f"must be one of {', '.join(INCLUDABLE)}")
    return query


def _order(query: Query) -> str:
    order = query.get("order", ["desc"])[-1]
    if order not in ("asc", "desc"):
        raise invalid("order", "must be asc or desc")
    return order


def _limit(query: Query) -> int:
    limit = query.get("limit", [str(_DEFAULT)])[-1]
    if not _WHOLE.fullmatch(limit) or not 1 <= int(limit) <= _MOST:
        raise invalid("limit", f"must be a whole number from 1 to {_MOST}")
    return int(limit)


def _after(items: list[dict[str, Any]], query: Query) -> int:
    """Where the page begins."""
    if "after" not in query:
        return 0
    ids = [item["id"] for item in items]
    if query["after"][-1] not in ids:
        raise invalid("after", "must be the id of one of the items")
    return ids.index(query["after"][-1]) + 1

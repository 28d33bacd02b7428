"""How every request with a body begins: who asks, and what for."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.core.clock import Clock
from hybridge.core.errors import RequestError
from hybridge.server.exchange import Exchange
from hybridge.server.shapes.shape import Asker
from hybridge.server.terms import Terms

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Intake:
    """Lets in whoever has a key, and reads a JSON object."""

    def __init__(self, terms: Terms, clock: Clock) -> None:
        self.terms = terms
        self._clock = clock

    async def read(self, exchange: Exchange) -> tuple[dict[str, Any], Asker]:
        """Raises `Unauthorized` before the body is read, and `RequestError`."""
        terms = self.terms
        tenant = terms.keys.tenant(exchange.headers)
        body = await exchange.body(terms.body_limit)
        asker = Asker(exchange.id, tenant, exchange.headers, self._clock.monotonic())
        return json_object(body), asker


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

"""From a responses request to `core.Request`."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from hybridge.core.request import Request
from hybridge.server.session import session_key
from hybridge.server.shapes.chat.parse import read_request
from hybridge.server.shapes.shape import Asker


def as_request(
    body: dict[str, Any], metadata: dict[str, Any] | None, asker: Asker, session: str | None
) -> Request:
    """The request that a chat body makes, without what only this house shall know.

    `metadata` belongs to the kept response: it may name the session, and goes to no backend.
    `session`: the one that the chain belongs to. It holds unless the caller names one: the opening
    of a conversation is no mark of a chain, whose instructions may change from turn to turn.
    """
    marked = body if metadata is None else body | {"metadata": metadata}
    request = read_request(marked, asker)
    if request.session is None:
        return replace(request, body=body)
    header = asker.headers.get(b"x-session-id")
    # with nothing to fall back on, the key is the same only if it was made from a name
    named = request.session == session_key(asker.tenant, header, marked, ())
    key = request.session if named else session or request.session
    return replace(request, body=body, session=key)

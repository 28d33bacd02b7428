"""What makes two requests the same: who asks, and everything that shapes the answer (R62)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from hybridge.core.request import Request

Scope = Literal["caller", "key", "all"]
Named = Callable[[Request], bool]
"""Whether the caller named the session. One that was made of the conversation itself says nothing
more than the conversation does."""

_CALLER = ("user", "safety_identifier")
"""Members of a body that say for whom the answer is."""
_NO_MATTER = frozenset(
    {
        *("metadata", "prompt_cache_key", "service_tier", "store", *_CALLER),
        *("stream", "stream_options"),
    }
)
"""Members that say how an answer travels and who reads it, not what it says."""


class Identity:
    """Digests of requests. Those of two callers never meet, so neither a hit nor its speed tells
    anything about the other."""

    def __init__(self, scope: Scope = "caller", named: Named | None = None) -> None:
        """Without `named` every session counts as named."""
        self._scope = scope
        self.named = named

    def digest(self, request: Request, *, but_for_the_question: bool = False) -> str:
        """Over the caller, the whole conversation and everything that shapes the answer; or over
        all that but the words of the last turn."""
        shaping = {name: value for name, value in request.body.items() if name not in _NO_MATTER}
        turns = [[message.role, message.text] for message in request.messages]
        if but_for_the_question:
            turns.pop()
            shaping = _without_last_turn(shaping)
        whole = [self._owner(request), request.model, request.wish.tier, turns, shaping]
        return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()

    def _owner(self, request: Request) -> list[Any]:
        if self._scope == "all":
            return []
        if self._scope == "key":
            return [request.tenant]
        named = self.named is None or self.named(request)
        session = request.session if named else None
        return [request.tenant, session, *(request.body.get(name) for name in _CALLER)]


def _without_last_turn(shaping: Mapping[str, Any]) -> dict[str, Any]:
    *before, last = shaping["messages"]
    rest = {name: value for name, value in last.items() if name != "content"}
    return {**shaping, "messages": [*before, rest]}

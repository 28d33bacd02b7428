"""The Messages API as one dialect of several."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hybridge.cloud.anthropic import answer, thinking
from hybridge.cloud.anthropic.events import EventReader
from hybridge.cloud.anthropic.request import request, schema_of
from hybridge.cloud.tolerance import Change, Manner
from hybridge.core.backend import Call
from hybridge.core.clock import Clock
from hybridge.core.errors import BackendError
from hybridge.core.request import Feature
from hybridge.core.response import Completion

HEADERS = {"anthropic-version": "2023-06-01"}
"""The API's version, which it wants to hear with every request."""
FEATURES = frozenset(
    {
        Feature.TOOLS,
        Feature.JSON_SCHEMA,
        Feature.IMAGES,
        Feature.FILES,
        Feature.REASONING,
    }
)
"""What it can do beyond chat."""
_ABOUT_THINKING = ("thinking", "effort", "adaptive", "budget_tokens")


class Messages:
    """Implements `cloud.dialect.Dialect`."""

    path = "/messages"

    def __init__(self, model: str, *, max_tokens: int, clock: Clock) -> None:
        """`max_tokens`: the limit where the caller names none, since the API wants one."""
        self._model = model
        self._max_tokens = max_tokens
        self._clock = clock

    def body(self, call: Call, manner: Manner) -> bytes:
        """See `Dialect`."""
        return msgspec.json.encode(
            request(call.request.body, self._model, self._max_tokens, manner)
        )

    def completion(self, body: bytes, call: Call, manner: Manner) -> Completion:  # noqa: ARG002 - a Dialect's
        """See `Dialect`."""
        return answer.completion(body, created=self._now(), schema_as_tool=_by_tool(manner))

    def reader(self, call: Call, manner: Manner) -> EventReader:  # noqa: ARG002 - a Dialect's
        """See `Dialect`."""
        return EventReader(created=self._now(), schema_as_tool=_by_tool(manner))

    def alterable(self, call: Call, manner: Manner) -> Manner:
        """See `Dialect`."""
        found, body = set[Change](), call.request.body
        if thinking.effort(body):
            found.add(Change.THINKING_BUDGET)
        if schema_of(body) is not None:
            found.add(Change.SCHEMA_AS_TOOL)
        return frozenset(found - manner)

    def suspects(self, error: BackendError, alterable: Manner) -> Sequence[Manner]:
        """What the error names comes first."""
        message = str((error.body or {}).get("message") or "")
        groups = [
            frozenset({Change.SCHEMA_AS_TOOL}) & alterable,
            frozenset({Change.THINKING_BUDGET}) & alterable,
        ]
        if any(word in message for word in _ABOUT_THINKING):
            groups.reverse()
        return groups

    def _now(self) -> int:
        return int(self._clock.now().timestamp())


def _by_tool(manner: Manner) -> bool:
    return Change.SCHEMA_AS_TOOL in manner

"""The dialect that most servers speak: OpenAI's chat completions, bytes passed on as they come."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hybridge.cloud import limits, tool_ids
from hybridge.cloud.chunks import ChunkReader
from hybridge.cloud.dialect import NoWord
from hybridge.cloud.limits import LimitField
from hybridge.cloud.outgoing import asks_logprobs, asks_usage, outgoing
from hybridge.cloud.tolerance import Change, Manner
from hybridge.cloud.tool_calls import mend
from hybridge.cloud.tool_ids import ALPHANUMERIC9, Spelling
from hybridge.core import wire
from hybridge.core.backend import Call
from hybridge.core.errors import BackendError
from hybridge.core.request import Feature, Request
from hybridge.core.response import Completion

_ADDED: Manner = frozenset({Change.NO_LOGPROBS, Change.NO_USAGE})
"""They take back what this house added to the caller's words."""
_ABOUT_IDS = re.compile(r"(?i)tool[ _]?call|tool[ _]?use|\bid\b")


class ChatCompletions:
    """Implements `cloud.dialect.Dialect`."""

    path = "/chat/completions"

    def __init__(
        self,
        model: str,
        *,
        limit_field: LimitField = "as_sent",
        spelling: Spelling | None = None,
    ) -> None:
        """`spelling`: of tool ids; None passes them on as they are, until they are refused."""
        self._model = model
        self._limit_field: LimitField = limit_field
        self._spelling = spelling

    def body(self, call: Call, manner: Manner) -> bytes:
        """The caller's own body, with little changed."""
        if not manner:
            return outgoing(call, self._model, self._limit_field, self._spelling)
        short = ALPHANUMERIC9 if Change.SHORT_TOOL_IDS in manner else None
        field = limits.field_of(self._limit_field, manner)
        return outgoing(call, self._model, field, self._spelling or short, manner)

    def completion(self, body: bytes, call: Call, manner: Manner) -> Completion:
        """The upstream's bytes, with tool calls mended and hidden what only the judge wanted."""
        whole = mend(wire.completion(body), call.request.id)
        if Feature.CHOICES in call.request.features:
            _check_choices(whole, call.request.body.get("n") or 1)
        return wire.hide_logprobs(whole) if self._hides(call, manner) else whole

    def reader(self, call: Call, manner: Manner) -> ChunkReader:
        """Reads its stream."""
        choices = call.request.body.get("n")
        return ChunkReader(
            call.request.id,
            hide_logprobs=self._hides(call, manner),
            choices=choices if isinstance(choices, int) else 1,
        )

    def alterable(self, call: Call, manner: Manner) -> Manner:
        """See `Dialect`."""
        request, found = call.request, set[Change]()
        if asks_logprobs(call):
            found.add(Change.NO_LOGPROBS)
        if asks_usage(call):
            found.add(Change.NO_USAGE)
        field = limits.field_of(self._limit_field, manner)
        found.update(limits.other_names(request.body, field))
        if self._spelling is None and _has_odd_ids(request):
            found.add(Change.SHORT_TOOL_IDS)
        return frozenset(found - manner)

    def suspects(self, error: BackendError, alterable: Manner) -> Sequence[Manner]:
        """What the error names comes first; a limit is renamed for nothing less."""
        groups = [_ADDED & alterable, frozenset({Change.SHORT_TOOL_IDS}) & alterable]
        if _ABOUT_IDS.search(str((error.body or {}).get("message") or "")):
            groups.reverse()
        name = limits.refused_name(error)
        return [frozenset({name}) & alterable, *groups] if name else groups

    def _hides(self, call: Call, manner: Manner) -> bool:
        return asks_logprobs(call) and Change.NO_LOGPROBS not in manner


def _check_choices(whole: Completion, wanted: int) -> None:
    """Raises `NoWord` where a server passed over `n`, as Ollama does."""
    if len(wire.parse(whole.wire).get("choices") or ()) < wanted:
        raise NoWord("n", "it")


def _has_odd_ids(request: Request) -> bool:
    called = any(message.tool_calls for message in request.messages)
    return called and tool_ids.odd(request.body.get("messages"), ALPHANUMERIC9)

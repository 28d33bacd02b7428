"""What one upstream was seen to accept and to refuse, so that it is asked as it understands."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from hybridge.core.backend import Call
from hybridge.core.clock import Clock
from hybridge.core.errors import BackendError, Blame, Fault


class Change(Enum):
    """One thing that is asked for differently, after an upstream refused a call without it."""

    NO_LOGPROBS = "no_logprobs"
    """Token probabilities are not asked for; the judge does without."""
    NO_USAGE = "no_usage"
    """A stream's tokens are not asked for, and are counted here. Mistral refuses to be asked."""
    SHORT_TOOL_IDS = "short_tool_ids"
    """Ids of tool calls are spelled as the strictest provider wants them."""
    AS_MAX_TOKENS = "as_max_tokens"
    """The limit of tokens goes out as `max_tokens`."""
    AS_MAX_COMPLETION_TOKENS = "as_max_completion_tokens"
    """The limit of tokens goes out as `max_completion_tokens`."""
    THINKING_BUDGET = "thinking_budget"
    """Anthropic: reasoning is asked for as a budget of tokens, as models before 4.6 want it."""
    SCHEMA_AS_TOOL = "schema_as_tool"
    """Anthropic: a JSON schema is asked for as a forced tool, as older models want it."""


Manner = frozenset[Change]
"""How a call is asked: the changes that are in force for it."""
PLAIN: Manner = frozenset()
KINDS = 256
"""Kinds of calls that are learnt from; callers can think of any number."""
GOOD_FOR_S = 600.0
"""How long what was learnt is believed: to learn it anew costs a refusal or two, and no tokens."""
_REFUSING = (400, 422)
"""Statuses by which a server may refuse what it does not know."""


def may_be_the_manner(error: BackendError) -> bool:
    """Whether a call may have failed for how it was asked, and not for what was asked."""
    refused = error.status in _REFUSING and error.fault.blame is Blame.CALLER
    return refused and error.fault is not Fault.CONTEXT


class Tolerance:
    """What has been learnt. A change is learnt when it turned a refusal into an answer, and is
    known to be needless once a call that it would have altered was answered without it.

    All of it is forgotten every `GOOD_FOR_S`: upstreams change, and one odd answer, which may have
    had another reason, must not decide for ever.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._forget()

    @property
    def manner(self) -> Manner:
        """How to ask."""
        if self._learnt:
            self._refresh()
        return self._learnt

    def next(self, suspects: Sequence[Manner], tried: Manner) -> Manner:
        """What to change for one more try: the first group that may help; empty for none."""
        self._refresh()
        for group in suspects:
            if step := group - tried - self._needless:
                return step
        return PLAIN

    def helped(self, step: Manner) -> None:
        """It answered once this was changed, what it had refused before."""
        self._learnt |= step

    def knows(self, kind: int) -> bool:
        """Whether there is nothing more to learn from a call of this kind that was answered."""
        return kind in self._kinds or len(self._kinds) >= KINDS

    def accepted(self, kind: int, without: Manner) -> None:
        """It answered a call of this kind, which these would have altered, without them."""
        self._kinds.add(kind)
        self._needless |= without

    def _refresh(self) -> None:
        if self._clock.monotonic() - self._since_s >= GOOD_FOR_S:
            self._forget()

    def _forget(self) -> None:
        self._learnt = self._needless = PLAIN
        self._kinds: set[int] = set()
        self._since_s = self._clock.monotonic()


def kind_of(call: Call) -> int:
    """Calls of one kind are asked with the same fields. Cheap, for every good answer pays it; a
    hash, so that no name of a field that a caller thought of is kept."""
    request = call.request
    called = len(request.messages) > 2 and any(m.tool_calls for m in request.messages)
    return hash((frozenset(request.body), request.stream, call.want_logprobs, called))

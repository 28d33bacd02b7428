"""What this house asks of an upstream beyond the caller's own words, until one refuses it."""

from __future__ import annotations

from enum import Enum

from hybridge.core.backend import Call
from hybridge.core.errors import BackendError, Fault


class Extra(Enum):
    """A field that is added to the caller's body."""

    LOGPROBS = "logprobs"
    """Token probabilities, for the judge."""
    USAGE = "usage"
    """A stream's tokens, for its cost. Mistral, for one, refuses to be asked."""


Extras = frozenset[Extra]
NONE: Extras = frozenset()
_REFUSING = (400, 422)
"""Statuses by which a server may refuse a field that it does not know."""


class Tolerance:
    """What one upstream has been seen to accept and to refuse."""

    def __init__(self) -> None:
        self._accepted = NONE
        self._refused = NONE

    def wanted(self, call: Call) -> Extras:
        """What to add to this call: what the caller did not ask for, and was never refused."""
        body, found = call.request.body, set[Extra]()
        if call.want_logprobs and not body.get("logprobs"):
            found.add(Extra.LOGPROBS)
        if call.request.stream and not (body.get("stream_options") or {}).get("include_usage"):
            found.add(Extra.USAGE)
        return frozenset(found - self._refused)

    def may_explain(self, error: BackendError, extras: Extras) -> bool:
        """Whether a call may have failed for its extras, so that it is worth asking without."""
        refusal = error.status in _REFUSING and error.fault is Fault.CALLER
        return refusal and not extras <= self._accepted

    def accepted(self, extras: Extras) -> None:
        """It answered with these."""
        self._accepted |= extras

    def refused(self, extras: Extras) -> None:
        """It answered without these what it refused with them."""
        self._refused |= extras - self._accepted

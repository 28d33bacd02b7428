"""The two names of one limit: OpenAI renamed it, and many servers know only one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hybridge.cloud import wording
from hybridge.cloud.tolerance import Change, Manner
from hybridge.core.errors import BackendError

LimitField = Literal["as_sent", "max_tokens", "max_completion_tokens"]

NAMES = ("max_completion_tokens", "max_tokens")
"""The one that counts where both are sent comes first."""
_NAME = re.compile("|".join(NAMES))
_REFUSALS = frozenset({"unsupported_parameter", "unknown_parameter", "extra_forbidden"})
"""Codes by which a server says that it does not know a field."""
_CHANGES: Mapping[LimitField, Change] = {
    "max_tokens": Change.AS_MAX_TOKENS,
    "max_completion_tokens": Change.AS_MAX_COMPLETION_TOKENS,
}


def renamed(body: dict[str, Any], name: LimitField) -> None:
    """Gives the limit in `body` this one name, in place."""
    sent = [body.pop(key, None) for key in NAMES]
    limit = next((value for value in sent if value is not None), None)
    if limit is not None:
        body[name] = limit


def field_of(default: LimitField, manner: Manner) -> LimitField:
    """The name to use."""
    for name, change in _CHANGES.items():
        if change in manner:
            return name
    return default


def other_names(body: Mapping[str, Any], field: LimitField) -> Iterable[Change]:
    """The changes that would send this limit under another name."""
    if all(body.get(name) is None for name in NAMES):
        return ()
    sent = [name for name in NAMES if body.get(name) is not None] if field == "as_sent" else [field]
    return [change for name, change in _CHANGES.items() if sent != [name]]


def refused_name(error: BackendError) -> Change | None:
    """The change to make, when an upstream says that it does not know the limit by its name.

    A limit that is only too large is not refused for its name: an upstream that passes over the
    other one would answer without any limit.
    """
    inner = error.body or {}
    message = str(inner.get("message") or "")
    if inner.get("code") not in _REFUSALS and not wording.met(wording.NOT_KNOWN, message):
        return None
    found = _NAME.search(str(inner.get("param") or "")) or _NAME.search(message)
    if found is None:
        return None
    known = NAMES[1] if found[0] == NAMES[0] else NAMES[0]
    return Change.AS_MAX_TOKENS if known == "max_tokens" else Change.AS_MAX_COMPLETION_TOKENS

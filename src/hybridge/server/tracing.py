"""The caller's trace, as the header `traceparent` names it (W3C Trace Context, level 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FORM = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|$)"
)
"""Version, trace, span and flags; a later version may go on after them."""


def read_traceparent(headers: Mapping[bytes, bytes]) -> str | None:
    """Its first four fields; None where it is missing or malformed, for then a trace begins anew.

    `tracestate` is passed over: it holds whatever its senders want.
    """
    value = headers.get(b"traceparent")
    found = None if value is None else _FORM.match(value.decode("latin-1").strip())
    return None if found is None else found[0]

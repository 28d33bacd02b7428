"""A request out of nothing but a prompt."""

from __future__ import annotations

import secrets

from hybridge.core.clock import SystemClock
from hybridge.core.request import AUTO, Message, Request


def request_of(prompt: str) -> Request:
    """A plain request of one user turn, as a caller would send it."""
    return Request(
        id=f"req-{secrets.token_hex(12)}",
        model=AUTO,
        messages=(Message("user", prompt),),
        body={"model": AUTO, "messages": [{"role": "user", "content": prompt}]},
        received_s=SystemClock().monotonic(),
    )

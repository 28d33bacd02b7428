"""Which conversation a request belongs to (R6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import takewhile
from typing import Any

from hybridge.core.request import Message


def session_key(
    tenant: str, header: bytes | None, body: Mapping[str, Any], messages: Sequence[Message]
) -> str:
    """A digest that is the same for all turns of one conversation of one tenant.

    Made from `x-session-id`, else the body's `metadata.session_id` or `user`, else the opening:
    everything up to and with the first user turn, which later turns repeat. The last holds for a
    first turn too, so that its follow-up finds it.
    """
    named = header.decode("latin-1") if header else _named(body)
    parts = ("id", named) if named else ("opening", *_opening(messages))
    digest = blake2b(tenant.encode(), digest_size=16)
    for part in parts:
        digest.update(b"\0%d\0" % len(part))
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _named(body: Mapping[str, Any]) -> str | None:
    metadata = body.get("metadata")
    session = metadata.get("session_id") if isinstance(metadata, Mapping) else None
    for name in (session, body.get("user")):
        if isinstance(name, str) and name:
            return name
    return None


def _opening(messages: Sequence[Message]) -> list[str]:
    before = list(takewhile(lambda message: message.role != "user", messages))
    opening = messages[: len(before) + 1]
    return [part for m in opening for part in (m.role, m.text, str(m.images))]

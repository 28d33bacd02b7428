"""The events of a stream, as bytes (https://docs.anthropic.com/en/api/messages-streaming)."""

from __future__ import annotations

from typing import Any

import msgspec

from hybridge.server import sse


def event(kind: str, **members: Any) -> bytes:
    """One event; its type stands in its name and in its data."""
    return of_wire(kind, msgspec.json.encode({"type": kind, **members}))


def of_wire(kind: str, wire: bytes) -> bytes:
    """The same of data that is JSON already."""
    return b"event: " + kind.encode() + b"\n" + sse.event(wire)


def started(index: int, block: dict[str, Any]) -> bytes:
    """A block begins."""
    return event("content_block_start", index=index, content_block=block)


def grown(index: int, kind: str, member: str, text: str) -> bytes:
    """More of a block."""
    return event("content_block_delta", index=index, delta={"type": kind, member: text})


def stopped(index: int) -> bytes:
    """A block is complete."""
    return event("content_block_stop", index=index)

"""Writing server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would collect the events otherwise
)
DONE = b"data: [DONE]\n\n"


def event(wire: bytes) -> bytes:
    """One event that holds one JSON value.

    A line break inside JSON is mere space between tokens, but would end the event's line.
    """
    if b"\n" in wire or b"\r" in wire:
        wire = wire.replace(b"\n", b" ").replace(b"\r", b" ")
    return b"data: " + wire + b"\n\n"

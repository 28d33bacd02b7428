"""Whether a model that was just loaded answers at all."""

from __future__ import annotations

from contextlib import aclosing

from hybridge.core.backend import Call
from hybridge.core.clock import Clock, Deadline
from hybridge.core.errors import BackendError, ModelError
from hybridge.core.request import Message, Request
from hybridge.edge.held import Engine

CHECK_S = 60.0
"""How long it may take; a slow device and a large model need some time for their first words."""
_PROMPT, _WORDS = "Say hello.", 8


async def prove(engine: Engine, clock: Clock) -> None:
    """Asks for a few words. Raises `ModelError` where none come, or something that is no text."""
    said, version = "", engine.spec.version
    try:
        await engine.probe()
        async with aclosing(engine.answer(_call(clock))) as events:
            async for event in events:
                said += event.text or ""
    except BackendError as error:
        raise ModelError(f"version {version} failed its check: {error}") from error
    if not said.strip("\0\ufffd \n"):
        raise ModelError(f"version {version} failed its check: it said nothing")


def _call(clock: Clock) -> Call:
    request = Request(
        id="check",
        model="check",
        messages=(Message("user", _PROMPT),),
        max_tokens=_WORDS,
        body={
            "model": "check",
            "messages": [{"role": "user", "content": _PROMPT}],
            "max_tokens": _WORDS,
            "temperature": 0,
        },
    )
    return Call(request, Deadline.after(CHECK_S, clock))

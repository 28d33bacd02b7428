"""How long the engine took to read a prompt and to write its answer, in its own words."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

_MARK = '"timings":{'
"""In the last piece of an answer. In a text the quotation marks would be escaped."""

Timed = Callable[[str, int, float], None]
"""Hears of the phase, `prefill` or `decode`, of its tokens and its seconds."""


class _Timings(msgspec.Struct):
    prompt_n: int = 0
    prompt_ms: float = 0.0
    predicted_n: int = 0
    predicted_ms: float = 0.0


class _Piece(msgspec.Struct):
    timings: _Timings | None = None


def report(said: str, timed: Timed) -> None:
    """Tells what a piece of an answer says of its timings, if it does.

    Of a prompt only the tokens that were computed count, not those that a slot still knew.
    """
    if _MARK not in said:
        return
    try:
        took = msgspec.json.decode(said, type=_Piece).timings
    except msgspec.DecodeError:
        return
    if took is not None:
        for phase, tokens, ms in (
            ("prefill", took.prompt_n, took.prompt_ms),
            ("decode", took.predicted_n, took.predicted_ms),
        ):
            if tokens > 0 and ms > 0:
                timed(phase, tokens, ms / 1000)


def unheard(_phase: str, _tokens: int, _seconds: float) -> None:
    """Nobody listens."""

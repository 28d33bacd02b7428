"""What a backend answers: one stream of events, whatever the engine and whatever the client."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    """Of the prompt's tokens, those that the provider had cached."""
    estimated: bool = False
    """Counted here, since the backend said nothing."""


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token with its natural-log probability."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a streamed answer.

    `wire` is a `chat.completion.chunk` JSON object, exactly as the backend sent it; the other
    fields are what this house reads of it (choice 0 only).
    """

    wire: bytes = field(repr=False)
    text: str = ""
    tokens: tuple[Token, ...] = ()
    """Empty when the backend gives no log-probabilities."""
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str = ""
    has_choices: bool = True
    """False for the trailing usage chunk, whose `choices` is empty."""
    has_tool_calls: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """One whole answer: `wire` is a `chat.completion` JSON object as the backend sent it."""

    wire: bytes = field(repr=False)
    text: str = ""
    tokens: tuple[Token, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str = ""
    has_tool_calls: bool = False


Event = Chunk | Completion
"""A request that streams is answered by `Chunk`s, any other by exactly one `Completion`."""

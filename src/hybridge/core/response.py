"""What a backend answers: one stream of events, whatever the engine and whatever the client."""

from __future__ import annotations

from msgspec import Struct


class Usage(Struct, frozen=True):
    """Tokens of one answer."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    """Of the prompt's tokens, those that the provider had cached."""
    cache_written_tokens: int = 0
    """Of the prompt's tokens, those that were put into its cache, where that costs more."""
    estimated: bool = False
    """Counted here, since the backend said nothing."""


class Token(Struct, frozen=True):
    """One generated token with its natural-log probability."""

    text: str
    logprob: float


class Chunk(Struct, frozen=True):
    """One piece of a streamed answer.

    `wire` is a `chat.completion.chunk` JSON object, exactly as the backend sent it; the other
    fields are what this house reads of it (choice 0 only).
    """

    wire: bytes
    text: str = ""
    tokens: tuple[Token, ...] = ()
    """Empty when the backend gives no log-probabilities."""
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str = ""
    has_choices: bool = True
    """False for the trailing usage chunk, whose `choices` is empty."""
    has_tool_calls: bool = False
    more: bool = False
    """Whether the next chunk came together with this one, so that it is there at once: whoever
    passes them on may do so in one piece, and loses no time."""

    def __repr__(self) -> str:
        return f"Chunk(text={self.text!r}, finish_reason={self.finish_reason!r}, more={self.more})"


class Completion(Struct, frozen=True):
    """One whole answer: `wire` is a `chat.completion` JSON object as the backend sent it."""

    wire: bytes
    text: str = ""
    tokens: tuple[Token, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str = ""
    has_tool_calls: bool = False

    def __repr__(self) -> str:
        return f"Completion(text={self.text!r}, finish_reason={self.finish_reason!r})"


Event = Chunk | Completion
"""A request that streams is answered by `Chunk`s, any other by exactly one `Completion`."""

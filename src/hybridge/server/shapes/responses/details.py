"""What a response tells beside what was said: probabilities, finer counts, the tier."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from hybridge.core.response import Chunk, Completion, Usage

Event = Chunk | Completion


class _InputDetails(Struct):
    cache_write_tokens: int | None = None


class _OutputDetails(Struct):
    reasoning_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _Token(Struct):
    token: str = ""
    logprob: float = 0.0
    bytes: list[int] | None = None
    top_logprobs: list[_Token] | None = None


class _Logprobs(Struct):
    content: list[_Token] | None = None


class _Choice(Struct):
    index: int = 0
    logprobs: _Logprobs | None = None


class _Answer(Struct):
    usage: _Usage | None = None
    choices: list[_Choice] | None = None
    service_tier: str | None = None


_decode = msgspec.json.Decoder(_Answer).decode


class Details(Struct):
    """Gathered from one event after the other."""

    wants_logprobs: bool
    usage: Usage | None = None
    """As the backend counted; None while it said nothing."""
    reasoning_tokens: int = 0
    cache_write_tokens: int = 0
    service_tier: str | None = None
    model: str = ""

    def read(self, event: Event) -> list[dict[str, Any]]:
        """Takes in what an event says, and gives the tokens that came with it."""
        self.model = event.model or self.model
        self.usage = event.usage or self.usage
        tiered = b'"service_tier"' in event.wire
        if event.usage is None and not tiered and not (self.wants_logprobs and event.tokens):
            return []
        answer = _decode(event.wire)
        self.service_tier = answer.service_tier or self.service_tier
        if answer.usage is not None:
            self._count(answer.usage)
        return _tokens(answer.choices or []) if self.wants_logprobs else []

    def told(self, estimate: Usage) -> dict[str, Any]:
        """The usage of a response; `estimate` is for a backend that said nothing of it."""
        usage = self.usage or estimate
        told: dict[str, Any] = {
            "input_tokens": usage.prompt_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": self.cache_write_tokens,
            },
            "output_tokens": usage.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
            "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        }
        return told | {"estimated": True} if usage.estimated else told

    def _count(self, usage: _Usage) -> None:
        read, written = usage.prompt_tokens_details, usage.completion_tokens_details
        if read is not None and read.cache_write_tokens is not None:
            self.cache_write_tokens = read.cache_write_tokens
        if written is not None and written.reasoning_tokens is not None:
            self.reasoning_tokens = written.reasoning_tokens


def _tokens(choices: list[_Choice]) -> list[dict[str, Any]]:
    logprobs = next((choice.logprobs for choice in choices if choice.index == 0), None)
    if logprobs is None:
        return []
    return [
        _token(token) | {"top_logprobs": [_token(other) for other in token.top_logprobs or ()]}
        for token in logprobs.content or ()
    ]


def _token(token: _Token) -> dict[str, Any]:
    spelled = list(token.token.encode()) if token.bytes is None else token.bytes
    return {"token": token.token, "bytes": spelled, "logprob": token.logprob}

"""Answers given twice."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hybridge.core.config import Section


class SemanticConfig(Section):
    """Section `cache.semantic`: questions that ask the same in other words."""

    similarity_min: float = Field(default=0.8, ge=0, le=1)
    """How alike the encoder must find two English questions, 0-1, besides their being the same
    once politeness, spelling and a few listed paraphrases are taken away."""


class CacheConfig(Section):
    """Section `cache`. Without the section nothing is cached."""

    ttl_s: float = Field(default=300.0, ge=0)
    """Seconds an edge answer may be given again. 0: never."""
    store: Literal["memory", "redis"] = "memory"
    """Where answers lie. `redis`: in the Redis of `state.redis_url`, where replicas share them."""
    key_env: str | None = None
    """For `redis`: the environment variable that holds the secret, of 32 characters at least, which
    makes its keys; the same one for all replicas. Without it each process makes up its own, and
    finds nothing but its own answers."""
    max_entries: int = Field(default=1000, ge=1)
    """How many answers, and questions for `semantic`, are kept in memory; the oldest make room.
    Redis has bounds of its own."""
    scope: Literal["caller", "key", "all"] = "caller"
    """To whom an answer may be given again. `caller`: the same API key with the same `user`,
    `safety_identifier` and named session. `key`: everybody with the same API key. `all`: everybody,
    whatever the key."""
    semantic: SemanticConfig | None = None
    """Also answers questions in other words. None: only the very same request."""

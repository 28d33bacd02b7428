"""Answers given twice."""

from __future__ import annotations

from pydantic import Field

from hybridge.core.config import Section


class CacheConfig(Section):
    """Section `cache`. Without the section nothing is cached."""

    ttl_s: float = Field(default=300.0, ge=0)
    """Seconds an edge answer may be given again. 0: never."""
    max_entries: int = Field(default=1000, ge=1)
    """How many answers are kept; the oldest make room."""

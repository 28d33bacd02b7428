"""Where records and shared state are kept."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hybridge.core.config import Section


class RecordsConfig(Section):
    """Section `records`."""

    url: str | None = "sqlite+aiosqlite:///hybridge.db"
    """An SQLAlchemy URL of an async driver. None: keep no records."""
    keep_text: Literal[False] = False
    """Records hold no prompt or answer text (R33)."""


class StateConfig(Section):
    """Section `state`."""

    redis_url: None = Field(default=None)
    """State is kept in this process; sharing it between replicas is not part of this version."""

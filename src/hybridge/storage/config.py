"""Where records and shared state are kept."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hybridge.core.config import Section

KEY_FROM = 16
"""Characters that a key of the audit trail has at least."""


class RecordsConfig(Section):
    """Section `records`."""

    url: str | None = "sqlite+aiosqlite:///hybridge.db"
    """An SQLAlchemy URL of an async driver. None: keep no records."""
    audit_key_env: str | None = Field(default=None, min_length=1)
    """Environment variable that holds a secret of at least 16 characters, which seals the audit
    trail: nobody can forge one who lacks it. None: sealed without, which shows changes by those
    only who do not make all later seals anew."""
    keep_text: Literal[False] = False
    """Records hold no prompt or answer text (R33)."""


class StateConfig(Section):
    """Section `state`."""

    redis_url: None = Field(default=None)
    """State is kept in this process; sharing it between replicas is not part of this version."""

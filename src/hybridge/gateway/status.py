"""What the gateway says of itself."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from hybridge.core.request import Tier


class BackendStatus(Struct, frozen=True):
    """One backend, as planning sees it now."""

    name: str
    tier: Tier
    model: str
    available: bool
    reason: str | None
    """Why it is not available."""


class Refusal(Struct, frozen=True):
    """A configuration that was not taken over."""

    at: datetime
    message: str
    """What is wrong with it, without secrets."""


class ConfigStatus(Struct, frozen=True):
    """The configuration in force."""

    version: str
    """A short digest of it; the same one means the same configuration."""
    loaded_at: datetime
    path: str | None
    """The file; None: the defaults, or settings made in code."""
    last_error: Refusal | None = None
    """Why the last attempt to change it failed; None once one has succeeded."""
    restart_needed: tuple[str, ...] = ()
    """Keys whose new values hold from the next start on."""


class Status(Struct, frozen=True):
    """Whether requests can be served, and by whom."""

    ready: bool
    reason: str | None
    """Why not."""
    backends: tuple[BackendStatus, ...]
    config: ConfigStatus | None = None
    """None where nobody keeps an account of it."""

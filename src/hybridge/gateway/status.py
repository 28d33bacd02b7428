"""What the gateway says of itself."""

from __future__ import annotations

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


class Status(Struct, frozen=True):
    """Whether requests can be served, and by whom."""

    ready: bool
    reason: str | None
    """Why it is not ready."""
    backends: tuple[BackendStatus, ...]

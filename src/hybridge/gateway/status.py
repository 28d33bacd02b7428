"""What the gateway says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from hybridge.core.request import Tier


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """One backend, as planning sees it now."""

    name: str
    tier: Tier
    model: str
    available: bool
    reason: str | None
    """Why it is not available."""


@dataclass(frozen=True, slots=True)
class Status:
    """Whether requests can be served, and by whom."""

    ready: bool
    reason: str | None
    """Why it is not ready."""
    backends: tuple[BackendStatus, ...]

"""A backend as planning sees it."""

from __future__ import annotations

from msgspec import Struct

from hybridge.core.backend import BackendSpec
from hybridge.core.request import Tier


class Candidate(Struct, frozen=True):
    """What is known of a backend at this moment."""

    spec: BackendSpec
    unavailable: str | None = None
    """Why it cannot be asked now, in words: breaker open, over budget, loading …"""
    in_need: bool = False
    """Whether it is asked all the same when nobody else is left: its model is on its way, or it is
    merely slow."""
    latency_s: float | None = None
    """Measured, moving; None: never measured."""
    retry_after_s: float | None = None
    """When it may be well again, if that is known."""
    limited: bool = False
    """Whether it cannot be asked for no other reason than its rate limit."""

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def tier(self) -> Tier:
        return self.spec.tier

"""How long things may take, and when a backend is left alone."""

from __future__ import annotations

from pydantic import Field

from hybridge.core.config import Section


class ExecutionConfig(Section):
    """Section `execution`."""

    deadline_s: float = Field(default=300.0, gt=0)
    """One deadline for a whole request, all its attempts together."""
    breaker_failures: int = Field(default=3, ge=1)
    """Failures in a row that open a backend's breaker."""
    breaker_window: int = Field(default=20, ge=2)
    """Calls over which failure and slow-call rates are taken."""
    breaker_failure_rate: float = Field(default=0.5, gt=0, le=1)
    """Share of failed calls in a full window that opens it."""
    breaker_slow_rate: float = Field(default=0.8, gt=0, le=1)
    """Share of slow calls in a full window that opens it."""
    breaker_slow_ms: float = Field(default=500.0, gt=0)
    """Cloud only: a first byte later than this is a slow call."""
    breaker_open_s: float = Field(default=10.0, gt=0)
    """How long an open breaker refuses before it lets one probe through."""
    probe_interval_s: float = Field(default=10.0, gt=0)
    """How often a backend that is not known to be well is probed."""

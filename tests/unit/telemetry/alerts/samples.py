"""Alerts to send."""

from __future__ import annotations

from datetime import UTC, datetime

from hybridge.telemetry.alerts.alert import Alert, Name, State

NOW = datetime(2030, 1, 1, 8, 0, 5, tzinfo=UTC)
FIRING = Alert(Name.BACKEND_UNAVAILABLE, State.FIRING, "local <1> & co", None, None, NOW, NOW)
RESOLVED = Alert(Name.LATENCY, State.RESOLVED, "edge", 120.5, 180.0, NOW, NOW)

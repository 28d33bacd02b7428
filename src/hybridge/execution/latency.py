"""How fast each backend has been lately (R8)."""

from __future__ import annotations

SMOOTHING = 0.2
"""Weight of the newest value in the moving mean: about the last ten answers count."""


class Latencies:
    """Exponentially weighted mean of the time to the first event, per backend."""

    def __init__(self) -> None:
        self._mean_s: dict[str, float] = {}

    def note(self, backend: str, first_event_s: float) -> None:
        """Adds one measurement, in seconds."""
        known = self._mean_s.get(backend)
        self._mean_s[backend] = (
            first_event_s if known is None else known + SMOOTHING * (first_event_s - known)
        )

    def of(self, backend: str) -> float | None:
        """Seconds; None before the first answer."""
        return self._mean_s.get(backend)

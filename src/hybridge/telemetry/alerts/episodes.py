"""From findings to alerts: each is told once when it begins, and once when it is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from hybridge.core.clock import Clock
from hybridge.telemetry.alerts.alert import Alert, Finding, Name, State

Key = tuple[Name, str]


@dataclass(slots=True)
class _Episode:
    """One thing, as long as it is wrong."""

    finding: Finding
    since: datetime
    fired: Alert | None = None
    """None until it was told: it may have to wait."""


class Episodes:
    """Remembers what is wrong. Two alerts of the same thing begin at least `repeat_s` apart: one
    that comes back sooner is told when that time is over, if it is still wrong by then."""

    def __init__(self, repeat_s: float, clock: Clock) -> None:
        self.repeat_s = repeat_s
        """May change at any time."""
        self._clock = clock
        self._wrong: dict[Key, _Episode] = {}
        self._fired_s: dict[Key, float] = {}
        """When each was told last, as long as that keeps it from being told again."""

    @property
    def firing(self) -> tuple[Alert, ...]:
        """What was told and is not over."""
        told = (episode.fired for episode in self._wrong.values())
        return tuple(alert for alert in told if alert is not None)

    def note(self, finding: Finding) -> Alert | None:
        """What is to be told now that this was found."""
        key = (finding.name, finding.subject)
        if not finding.bad:
            return self._end(key, finding)
        episode = self._wrong.get(key)
        if episode is None:
            episode = self._wrong[key] = _Episode(finding, self._clock.now())
        episode.finding = finding
        return self._fire(key, episode)

    def due(self) -> list[Alert]:
        """What was held back and is to be told now."""
        alerts = [self._fire(key, episode) for key, episode in self._wrong.items()]
        return [alert for alert in alerts if alert is not None]

    def drop(self, gone: Callable[[Key], bool]) -> list[Alert]:
        """What is over because there is nothing left that it was about."""
        keys = [key for key in self._wrong if gone(key)]
        alerts = [self._end(key, self._wrong[key].finding) for key in keys]
        return [alert for alert in alerts if alert is not None]

    def _fire(self, key: Key, episode: _Episode) -> Alert | None:
        now_s, last_s = self._clock.monotonic(), self._fired_s.get(key)
        if episode.fired is not None or (last_s is not None and now_s - last_s < self.repeat_s):
            return None
        self._fired_s[key] = now_s
        episode.fired = self._alert(episode.finding, State.FIRING, episode.since)
        return episode.fired

    def _end(self, key: Key, finding: Finding) -> Alert | None:
        episode = self._wrong.pop(key, None)
        if episode is None or episode.fired is None:
            return None
        limit = episode.finding.limit if finding.limit is None else finding.limit
        return self._alert(replace(finding, limit=limit), State.RESOLVED, episode.since)

    def _alert(self, finding: Finding, state: State, since: datetime) -> Alert:
        return Alert(
            finding.name,
            state,
            finding.subject,
            finding.value,
            finding.limit,
            self._clock.now(),
            since,
        )

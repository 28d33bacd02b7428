"""Probes backends that are not known to be well (R42)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from hybridge.core.backend import Backend
from hybridge.core.errors import BackendError
from hybridge.core.events import Events, HealthMoved
from hybridge.execution.breaker import Breaker

FAILED_PROBES = 3
"""Failures in a row after which a backend is unavailable (SPEC R42)."""
PROBE_TIMEOUT_S = 5.0
"""A backend that takes longer to say that it is there counts as gone."""
SPREAD = 0.2
"""By how much of the interval rounds are moved about, so that replicas do not probe in step."""

_log = logging.getLogger("hybridge.health")


class Health:
    """Asks each backend that has not served a request lately how it is.

    A backend that serves requests well is not probed: its answers say more than a probe could.
    """

    def __init__(
        self,
        backends: Mapping[str, Backend],
        breakers: Mapping[str, Breaker],
        *,
        interval_s: float,
        events: Events,
        jitter: Callable[[], float],
    ) -> None:
        """`jitter` gives numbers between 0 and 1, such as `random.random`."""
        self._backends = backends
        self._breakers = breakers
        self._interval_s = interval_s
        self._events = events
        self._jitter = jitter
        self._failures = dict.fromkeys(backends, 0)
        self._reasons: dict[str, str] = {}

    def refusal(self, backend: str) -> str | None:
        """Why the backend counts as unavailable, in words; None while it does not."""
        if self._failures[backend] < FAILED_PROBES:
            return None
        return f"unavailable, {self._reasons[backend]}"

    async def run(self) -> None:
        """Probes until cancelled; the first round at once, so that a dead backend is known soon."""
        while True:
            await self.round()
            await asyncio.sleep(self._interval_s * (1 + SPREAD * (self._jitter() - 0.5)))

    async def round(self) -> None:
        """Probes everyone who needs it, all at the same time."""
        await asyncio.gather(*(self._look_at(name) for name in self._backends))

    async def _look_at(self, name: str) -> None:
        breaker = self._breakers[name]
        if breaker.state == "closed" and breaker.served_within(self._interval_s):
            self._is_well(name)
        else:
            await self._probe(name)

    async def _probe(self, name: str) -> None:
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                await self._backends[name].probe()
        except TimeoutError:
            self._failed(name, "no answer to a probe")
        except BackendError as error:
            self._failed(name, str(error))
        except Exception as error:  # one backend's broken probe must not end those of the others
            _log.exception("the probe of %s is broken", name)
            self._failed(name, type(error).__name__)
        else:
            self._is_well(name)
            self._breakers[name].reached()

    def _is_well(self, name: str) -> None:
        was_gone, self._failures[name] = self._failures[name] >= FAILED_PROBES, 0
        if was_gone:
            _log.info("%s is available again", name)
            self._tell(name, available=True, reason="it answers again")

    def _failed(self, name: str, reason: str) -> None:
        self._failures[name] += 1
        self._reasons[name] = reason
        if self._failures[name] == FAILED_PROBES:
            _log.warning("%s is unavailable: %s", name, reason)
            self._tell(name, available=False, reason=reason)

    def _tell(self, name: str, *, available: bool, reason: str) -> None:
        tier = self._backends[name].spec.tier
        self._events.emit(HealthMoved(name, available=available, reason=reason, tier=tier))

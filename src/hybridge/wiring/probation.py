"""Watches the first answers and the health of a version that was just put to work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hybridge.core.clock import Clock
from hybridge.core.errors import BackendError, Fault
from hybridge.edge.reloadable import Reloadable
from hybridge.modelstore.trial import Terms, Trial, Verdict

Ended = Callable[[Verdict, str], None]
"""Told the verdict, and why in words."""
_CROWDED = (Fault.BUSY, Fault.LIMITED)
"""Failures that say nothing of the weights."""


class Probation:
    """Of one version of an engine, until there is a verdict, or until it is closed."""

    def __init__(
        self,
        engine: Reloadable,
        version: str,
        terms: Terms,
        clock: Clock,
        ended: Ended,
        *,
        canary: bool,
    ) -> None:
        """Must be called on the event loop. `canary`: it is the one on trial."""
        self._engine = engine
        self._version = version
        self._trial = Trial(terms, clock, needs_answers=canary)
        self._every_s = terms.probe_s
        self._ended = ended
        self._probe = engine.probe_trial if canary else engine.probe
        self._probing = asyncio.create_task(self._look(), name=f"probation of {version}")
        self._open = True
        engine.heard = self._heard

    def close(self) -> None:
        """Watches no more; safe to call more than once."""
        if self._open:
            self._open = False
            self._engine.heard = None
            self._probing.cancel()

    def _heard(self, version: str, fault: Fault | None) -> None:
        if version != self._version or fault in _CROWDED:
            return
        if fault is None or fault.counts_for_breaker:
            self._judge(self._trial.answered(failed=fault is not None))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self._probe()
            except BackendError:
                self._judge(self._trial.probed(failed=True))
            else:
                self._judge(self._trial.probed(failed=False))

    def _judge(self, verdict: Verdict | None) -> None:
        if verdict is not None and self._open:
            self.close()
            self._ended(verdict, self._trial.account)

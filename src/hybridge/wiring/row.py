"""One row of the configuration's backends, with everything that belongs to it alone."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import AsyncExitStack

from hybridge.cloud.config import CloudBackendConfig
from hybridge.core.backend import Backend
from hybridge.core.clock import Clock
from hybridge.core.errors import ModelError
from hybridge.core.events import Events, HealthMoved
from hybridge.edge.config import EdgeBackendConfig
from hybridge.edge.reloadable import Reloadable
from hybridge.execution.breaker import Breaker
from hybridge.execution.breaker_states import Closed
from hybridge.execution.config import ExecutionConfig
from hybridge.execution.egress import Guarded
from hybridge.execution.health import Health

Around = Callable[[Backend], Backend]
"""Wraps each backend, for instance to add latency."""
RowConfig = EdgeBackendConfig | CloudBackendConfig

_log = logging.getLogger("hybridge.backends")


class Row:
    """A backend, its connections or its engine, its breaker and its health.

    It outlives a change of the configuration as long as what it is made of stays the same.
    """

    def __init__(
        self,
        made_of: tuple[object, ...],
        backend: Backend,
        stack: AsyncExitStack,
        execution: ExecutionConfig,
        events: Events,
        clock: Clock,
        *,
        around: Around,
        engine: Reloadable | None = None,
    ) -> None:
        """`made_of`: its configuration and its key. `stack` holds what its end gives back."""
        self.made_of = made_of
        self.bare = backend
        """As it is, for those who look at it alone."""
        self.backend = Guarded(around(backend))
        self.engine = engine
        self._events = Events(events.emit)
        self.breaker = Breaker(self.name, backend.spec.tier, execution, clock, self._events)
        self.failure: str | None = None
        """Why its model could not be loaded."""
        self._stack = stack
        self._execution = execution
        self._health = self._prober()
        self._loading: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self.backend.spec.name

    @property
    def is_loading(self) -> bool:
        """Whether its model is on its way."""
        return self._loading is not None and not self._loading.done()

    def refusal(self) -> str | None:
        """Why it counts as unavailable, in words; None while it does not."""
        return self.failure or self._health.refusal(self.name)

    def begin(self) -> None:
        """Loads the model, if there is one, and watches its health from then on."""
        self.failure = None
        if self.engine is None:
            self._watch()
        else:
            self._loading = asyncio.create_task(self._load(self.engine), name=self.name)

    def renewed(self) -> None:
        """Its engine has other weights: what was found out of the old ones counts no longer."""
        self.failure = None
        if self.breaker.state != Closed.name:
            self.breaker.move(Closed(self.breaker), "it has other weights")
        if self._watching is None:
            self._watch()

    async def loaded(self) -> None:
        """Returns when its model is there. Raises `ModelError` where it could not be loaded."""
        if self._loading is not None:
            await asyncio.wait({self._loading})
        if self.failure is not None:
            raise ModelError(f"{self.name}: {self.failure}")

    def take(self, execution: ExecutionConfig) -> None:
        """From now on these limits hold. What its breaker and its probes found out stays."""
        old, self._execution = self._execution, execution
        if execution == old:
            return
        self.breaker.config = execution
        if self.breaker.state == Closed.name:  # an open one reads them when it closes
            self.breaker.move(Closed(self.breaker), "its limits changed")
        if execution.probe_interval_s != old.probe_interval_s:
            if self._health.refusal(self.name) is not None:
                self._tell(available=True, reason="its probes begin anew")
            self._health = self._prober()
            if self._watching is not None:
                self._watch()

    def retire(self) -> None:
        """Another may have its name from now on: what still happens to it is told to nobody."""
        self._events.silence()

    async def close(self) -> None:
        """Gives back connections or weights."""
        for task in (self._loading, self._watching):
            if task is not None:
                task.cancel()
        await self._stack.aclose()

    async def _load(self, engine: Reloadable) -> None:
        try:
            await engine.load()
        except ModelError as error:
            self._failed(str(error))
        except Exception as error:
            _log.exception("loading %s broke", self.name)
            self._failed(f"{type(error).__name__}: {error}")
        else:
            self._watch()

    def _failed(self, why: str) -> None:
        self.failure = f"could not be loaded: {why}"
        self._tell(available=False, reason="its model could not be loaded")
        _log.error("%s %s", self.name, self.failure)

    def _tell(self, *, available: bool, reason: str) -> None:
        tier = self.backend.spec.tier
        self._events.emit(HealthMoved(self.name, available=available, reason=reason, tier=tier))

    def _watch(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        self._watching = asyncio.create_task(self._health.run(), name=f"health of {self.name}")

    def _prober(self) -> Health:
        return Health(
            {self.name: self.backend},
            {self.name: self.breaker},
            interval_s=self._execution.probe_interval_s,
            events=self._events,
            jitter=random.random,
        )

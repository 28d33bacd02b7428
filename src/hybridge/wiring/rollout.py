"""Keeps a backend on the version of its model that the store names (R57).

Another version is checked file by file, loaded and asked for a few words before any request goes to
it; the one before it answers until then, and ends what it has begun. A version that fails one of
these, or too many of its first answers, is rolled back in the store too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from hybridge.core.backend import BackendSpec
from hybridge.core.clock import Clock
from hybridge.core.errors import ModelError
from hybridge.core.events import Events, ModelLoaded, ModelSwitched
from hybridge.edge.held import Engine, Load
from hybridge.edge.reloadable import Reloadable
from hybridge.modelstore.place import Unreachable
from hybridge.modelstore.pointer import Pointer
from hybridge.modelstore.trial import Terms, Verdict
from hybridge.wiring.probation import Probation
from hybridge.wiring.proving import prove
from hybridge.wiring.steps import Steps

Make = Callable[[Path, str], Awaitable[Engine]]
"""Loads the version whose files lie in a folder. Raises `ModelError`."""
_log = logging.getLogger("hybridge.models")


class Rollout:
    """One backend and the versions of its model. `moved` is to be called when the pointer moves."""

    def __init__(
        self,
        spec: BackendSpec,
        steps: Steps,
        make: Make,
        base: Load | None,
        terms: Callable[[], Terms],
        events: Events,
        clock: Clock,
    ) -> None:
        """`spec`: what is expected. `base` loads the weights that are in force where no version
        is; None: there are none."""
        self.engine = Reloadable(spec, self._first)
        self.switched: Callable[[], None] = lambda: None
        """Called when other weights are in force."""
        self._backend = spec.name
        self._steps = steps
        self._make = make
        self._base = base
        self._terms = terms
        self._events = events
        self._clock = clock
        self._active: str | None = None
        self._on_trial: tuple[str, float] | None = None
        self._probation: Probation | None = None
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def moved(self) -> bool:
        """Goes where the pointer points, as far as that is well; whether it is there."""
        async with self._one_at_a_time:
            while True:
                if self.engine.state.phase in ("absent", "loading"):
                    return False  # it will look for itself
                try:
                    pointer = await self._steps.pointer()
                    failed = await self._go(pointer)
                except Unreachable as error:
                    _log.warning("%s: %s", self._backend, error)
                    return False
                if failed is None:
                    return True
                await self._steps.take_back(pointer, *failed)

    async def close(self) -> None:
        """Watches nothing any more; the engine is its owner's to unload."""
        self._end_probation()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _first(self) -> Engine:
        """What is in force now; what of it cannot be loaded is rolled back."""
        failed: dict[str | None, ModelError] = {}
        while True:
            pointer = await self._steps.at_start(has_base=self._base is not None)
            active = pointer.active
            if active in failed:
                raise failed[active]  # there is nothing else
            if active is None:
                if self._base is None:
                    raise next(iter(failed.values()), ModelError(self._steps.nothing()))
                engine = await self._base()
                break
            try:
                engine = await self._version(active, pointer)
                break
            except Unreachable:
                raise
            except ModelError as error:
                failed[active] = error
                self._tell(active, "refused", str(error))
                await self._steps.take_back(pointer, active, str(error))
        self._active = active
        self._do(self._again)  # a canary may be due, too
        return engine

    async def _go(self, pointer: Pointer) -> tuple[str, str] | None:
        """The version that could not be put to work and why; None where all is as it should be."""
        trial = pointer.trial
        wanted = None if trial is None else (trial.version, trial.share)
        version = pointer.active
        try:
            if version != self._active and (version is not None or self._base is not None):
                await self._switch(version, pointer)
            if wanted != self._on_trial and self._on_trial is not None:
                await self._withdraw(pointer)
            if trial is not None and wanted != self._on_trial:
                version = trial.version
                load = partial(self._version, version, pointer)
                await self.engine.try_out(load, trial.share)
                self._on_trial = wanted
                self._tell(version, "on_trial", pointer.reason)
                self._begin_probation(version, pointer, canary=True)
        except Unreachable:
            raise
        except ModelError as error:
            self._tell(version or "", "refused", str(error))
            return version or "", str(error)
        return None

    async def _switch(self, version: str | None, pointer: Pointer) -> None:
        outcome = _OUTCOMES.get(pointer.last.what if pointer.last else "", "activated")
        if self._on_trial is not None and self._on_trial[0] == version:
            self._on_trial = None
            await self.engine.promote()
        elif version is None:
            await self.engine.swap(self._base or self._first)
        else:
            await self.engine.swap(partial(self._version, version, pointer))
        self._active = version
        self._end_probation()
        self.switched()
        self._tell(version or "", outcome, pointer.reason)
        if version is not None and outcome == "activated":
            self._begin_probation(version, pointer, canary=False)

    async def _withdraw(self, pointer: Pointer) -> None:
        if self._on_trial is None:
            return
        gone, self._on_trial = self._on_trial[0], None
        self._end_probation()
        await self.engine.withdraw()
        self._tell(gone, "withdrawn", pointer.reason)

    async def _version(self, version: str, pointer: Pointer) -> Engine:
        """Checks, loads and tries one version. Raises `ModelError`."""
        started_s = self._clock.monotonic()
        engine = await self._make(await self._steps.bring(version), version)
        try:
            await prove(engine, self._clock)
        except BaseException:
            await engine.close()
            raise
        await self._steps.remember(pointer)
        self._events.emit(ModelLoaded(self._backend, self._clock.monotonic() - started_s))
        return engine

    def _begin_probation(self, version: str, pointer: Pointer, *, canary: bool) -> None:
        def ended(verdict: Verdict, why: str) -> None:
            self._do(partial(self._end, version, pointer, verdict, why, canary=canary))

        self._end_probation()
        self._probation = Probation(
            self.engine, version, self._terms(), self._clock, ended, canary=canary
        )

    def _end_probation(self) -> None:
        if self._probation is not None:
            self._probation.close()
            self._probation = None

    async def _end(
        self, version: str, pointer: Pointer, verdict: Verdict, why: str, *, canary: bool
    ) -> None:
        if verdict is Verdict.FAILED:
            await self._steps.take_back(pointer, version, why)
        elif not canary:
            _log.info("%s: version %s stays: %s", self._backend, version, why)
        elif not await self._steps.promote(pointer, version, why):
            self._begin_probation(version, pointer, canary=True)
        await self.moved()

    async def _again(self) -> None:
        await self.engine.load()  # returns once it has taken what it was given
        await self.moved()

    def _tell(self, version: str, outcome: str, reason: str) -> None:
        said = f": {reason}" if reason else ""
        shown = f"version {version}" if version else "the catalogue's weights"
        level = logging.ERROR if outcome == "refused" else logging.INFO
        name = self._steps.name
        _log.log(level, "%s: %s of %s %s%s", self._backend, shown, name, outcome, said)
        self._events.emit(ModelSwitched(self._backend, name, version, outcome, reason))

    def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        async def logged() -> None:
            try:
                await work()
            except Exception:
                _log.exception("the versions of %s broke", self._steps.name)

        task = asyncio.create_task(logged(), name=f"versions of {self._backend}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


_OUTCOMES = {"promoted": "promoted", "rolled back": "rolled_back"}

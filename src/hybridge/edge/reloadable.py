"""A local engine that can be loaded, exchanged and put down while the gateway runs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Literal

from msgspec import Struct

from hybridge.core.backend import BackendSpec, Call
from hybridge.core.clock import Deadline
from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.core.response import Event
from hybridge.edge.held import Engine, Held, Load, OnTrial

DRAIN_S = 60.0
"""How long an exchanged engine may go on with what it is answering; what is left then fails."""
LOADING_RETRY_S = 2.0
"""When to ask again while the weights are being loaded."""


class State(Struct, frozen=True):
    """Where an engine stands."""

    phase: Literal["absent", "loading", "ready", "failed"]
    """`ready` also while another one is loaded to take its place."""
    cause: str | None = None
    """Why loading failed."""


Heard = Callable[[str, Fault | None], None]
"""Told of each answer by its version: how it failed, or None where it did not."""


class Reloadable:
    """A backend around an engine that may be absent, and then fails like an unreachable server.

    Its loads, exchanges and unloads follow one another, never two at once. Beside it another one
    may be on trial, which gets a share of the requests; what that one fails before it has said
    anything, the engine in force answers.
    """

    heard: Heard | None = None
    """Set by whoever watches a new version."""

    def __init__(
        self,
        spec: BackendSpec,
        load: Load,
        *,
        drain_s: float = DRAIN_S,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """`draw` gives numbers between 0 and 1: who goes to the engine on trial."""
        self._spec = spec
        self._load = load
        self._drain_s = drain_s
        self._draw = draw
        self._trial: OnTrial | None = None
        self._state = State("absent")
        self._settled = asyncio.Event()
        """Set unless a first load is under way."""
        self._settled.set()
        self._held: Held | None = None
        self._changing = asyncio.Lock()
        self._ended = 0
        """First loads that came to an end."""
        self._old: Held | None = None
        """The one that was exchanged last, while it is not yet freed."""
        self._retiring: asyncio.Task[None] | None = None

    @property
    def spec(self) -> BackendSpec:
        """The engine's own, once it has been loaded; what was expected of it before."""
        return self._spec

    @property
    def state(self) -> State:
        """Where it stands now."""
        return self._state

    @property
    def waiting(self) -> int:
        """How many requests wait for the engine's slots; 0 where it has no queue of its own."""
        engine = None if self._held is None else self._held.engine
        return getattr(engine, "waiting", 0)

    async def load(self) -> None:
        """Loads the engine, if it is not there. Raises `ModelError`, which becomes the state."""
        before = self._ended
        async with self._changing:
            if self._held is not None:
                return
            if self._ended > before and self._state.cause is not None:
                raise ModelError(self._state.cause)  # that of the load that was waited for
            await self._begin(self._load)

    async def swap(self, load: Load) -> None:
        """Loads another engine, and then lets it take the place of the present one.

        Requests that come from then on go to the new one. The old one ends what it is answering,
        for at most `drain_s` seconds, and is then freed, so that for a while memory must hold both.
        Raises `ModelError` where the new one cannot be loaded; the old one then stays in service.
        """
        async with self._changing:
            await self._drained()
            old = self._held
            if old is None:
                await self._begin(load)
            else:
                self._take(await self._instead(load))
                self._old, self._retiring = old, asyncio.create_task(self._retire(old))
            self._load = load

    async def try_out(self, load: Load, share: float) -> None:
        """Loads another engine beside the present one, for a share of the requests.

        Raises `ModelError` where it cannot be loaded; nothing has changed then.
        """
        async with self._changing:
            await self._end_trial()
            self._trial = OnTrial(await self._instead(load), load, share)

    async def promote(self) -> None:
        """The engine on trial takes the place of the present one, as by `swap`."""
        async with self._changing:
            await self._drained()
            trial, old = self._trial, self._held
            if trial is None:
                return
            self._trial, self._load = None, trial.load
            self._held, self._spec, self._state = trial, trial.engine.spec, State("ready")
            if old is not None:
                self._old, self._retiring = old, asyncio.create_task(self._retire(old))

    async def withdraw(self) -> None:
        """The engine on trial gets no further request, and is freed."""
        async with self._changing:
            await self._end_trial()

    async def unload(self) -> None:
        """Frees the engine, and those beside it; what they were answering fails."""
        if self._old is not None:
            self._old.idle.set()  # its time is over, also for a swap that waits for it
        async with self._changing:
            if self._trial is not None:
                self._trial.idle.set()
            await self._end_trial()
            if self._old is not None:
                self._old.idle.set()
            await self._drained()
            held, self._held = self._held, None
            self._state = State("absent")
            if held is not None:
                await held.engine.close()

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The engine's answer; while it is being loaded, as soon as it is.

        The request's trail is told which version it is. Raises `BackendError`: REFUSED where the
        deadline comes before the engine, NETWORK where there is none and none will come.
        """
        beside: Held | None = self._lot()
        while True:
            held = beside or self._held or await self._arriving(call.deadline)
            call.request.trail.answering(self._spec.name, held.engine.spec.version)
            event: Event | None = None
            try:
                with held:
                    async with aclosing(held.engine.answer(call)) as events:
                        async for event in events:
                            yield event
            except GeneratorExit:
                if event is not None and event.finish_reason is not None:
                    self._tell(held, None)  # who asked has read all there was
                raise
            except BackendError as error:
                self._tell(held, error.fault)
                if held is not beside or event is not None or not error.fault.counts_for_breaker:
                    raise
                beside = None
            else:
                self._tell(held, None)
                return

    async def probe(self) -> None:
        """The engine's own. Raises `BackendError`: REFUSED while it is loaded, else NETWORK."""
        if self._state.phase == "loading":
            raise self._loading()
        await self._present().engine.probe()

    async def probe_trial(self) -> None:
        """The same for the engine on trial, if there is one."""
        if self._trial is not None:
            await self._trial.engine.probe()

    def _lot(self) -> OnTrial | None:
        """The engine on trial, where this request is to be its."""
        trial = self._trial
        return trial if trial is not None and self._draw() < trial.share else None

    def _tell(self, held: Held, fault: Fault | None) -> None:
        if self.heard is not None:
            self.heard(held.engine.spec.version, fault)

    async def _end_trial(self) -> None:
        if self._trial is not None:
            trial, self._trial = self._trial, None
            await self._retire(trial)

    async def _begin(self, load: Load) -> None:
        """The first load: until it has ended there is nobody to answer."""
        self._state = State("loading")
        self._settled.clear()
        try:
            self._take(await load())
        except Exception as error:
            self._state = State("failed", str(error))
            raise
        finally:
            if self._state.phase == "loading":  # it was given up
                self._state = State("absent")
            self._ended += 1
            self._settled.set()

    async def _instead(self, load: Load) -> Engine:
        try:
            return await load()
        except ModelError as error:
            kept = " ".join(filter(None, (self._spec.model, self._spec.version)))
            kind = type(error)
            raise kind(f"{error}; {self._spec.name} goes on with {kept}") from error

    def _take(self, engine: Engine) -> None:
        self._held, self._spec, self._state = Held(engine), engine.spec, State("ready")

    async def _retire(self, old: Held) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._drain_s):
                await old.idle.wait()
        await old.engine.close()

    async def _drained(self) -> None:
        """Returns when the engine that was exchanged last is freed: memory never holds three."""
        if self._retiring is not None:
            await self._retiring
            self._old = self._retiring = None

    async def _arriving(self, deadline: Deadline) -> Held:
        try:
            async with asyncio.timeout(deadline.remaining_s):
                await self._settled.wait()
        except TimeoutError as late:
            raise self._loading() from late
        return self._present()

    def _present(self) -> Held:
        if self._held is None:
            cause = self._state.cause
            why = "is not loaded" if cause is None else f"could not be loaded: {cause}"
            raise self._error(why, Fault.NETWORK)
        return self._held

    def _loading(self) -> BackendError:
        return self._error("is still loading", Fault.REFUSED, retry_after_s=LOADING_RETRY_S)

    def _error(
        self, what: str, fault: Fault, *, retry_after_s: float | None = None
    ) -> BackendError:
        name = self._spec.name
        return BackendError(
            f"{name} {what}", backend=name, fault=fault, retry_after_s=retry_after_s
        )

"""A local engine that can be put down and taken up again while the gateway runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Protocol

from hybridge.core.backend import Backend, BackendSpec, Call
from hybridge.core.errors import BackendError, Fault
from hybridge.core.response import Event


class Engine(Backend, Protocol):
    """A backend that holds something that must be given back."""

    async def close(self) -> None:
        """Stops running answers and frees the weights."""
        ...


class Reloadable:
    """A backend around an engine that may be absent, and then fails like an unreachable server."""

    def __init__(self, spec: BackendSpec, load: Callable[[], Awaitable[Engine]]) -> None:
        self._spec = spec
        self._load = load
        self._engine: Engine | None = None
        self._changing = asyncio.Lock()

    @property
    def spec(self) -> BackendSpec:
        """The engine's own, once it has been loaded; what was expected of it before."""
        return self._engine.spec if self._engine is not None else self._spec

    async def load(self) -> None:
        """Loads the engine, if it is not there. Raises `ModelError`."""
        async with self._changing:
            if self._engine is None:
                self._engine = await self._load()
                self._spec = self._engine.spec

    async def unload(self) -> None:
        """Frees the engine; what it was answering fails."""
        async with self._changing:
            engine, self._engine = self._engine, None
            if engine is not None:
                await engine.close()

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The engine's answer. Raises `BackendError` (NETWORK) while there is none."""
        async with aclosing(self._present().answer(call)) as events:
            async for event in events:
                yield event

    async def probe(self) -> None:
        """The engine's own probe. Raises `BackendError` while there is none."""
        await self._present().probe()

    def _present(self) -> Engine:
        if self._engine is None:
            name = self._spec.name
            raise BackendError(f"{name} is not loaded", backend=name, fault=Fault.NETWORK)
        return self._engine

"""Engines in use: who may be freed, and who is still answering."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from hybridge.core.backend import Backend


class Engine(Backend, Protocol):
    """A backend that holds something that must be given back."""

    async def close(self) -> None:
        """Stops running answers and frees the weights."""
        ...


Load = Callable[[], Awaitable[Engine]]
"""Makes an engine ready. Raises `ModelError`."""


class Held:
    """An engine, and whether it is answering anything."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.idle = asyncio.Event()
        self.idle.set()
        self._answers = 0

    def __enter__(self) -> None:
        self._answers += 1
        self.idle.clear()

    def __exit__(self, *_: object) -> None:
        self._answers -= 1
        if self._answers == 0:
            self.idle.set()


class OnTrial(Held):
    """An engine that gets a share of the requests, beside the one in force."""

    def __init__(self, engine: Engine, load: Load, share: float) -> None:
        """`load` makes it ready anew."""
        super().__init__(engine)
        self.load = load
        self.share = share

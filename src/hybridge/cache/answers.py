"""Where answers are kept that may be given again (R62)."""

from __future__ import annotations

from typing import Protocol

from hybridge.cache.identity import Identity
from hybridge.core.request import Request
from hybridge.core.response import Completion

NO_KEY = ""
"""The key of a request that may not be remembered: nothing is kept or found under it."""


class Answers(Protocol):
    """Answers by request, for a while. Whatever is wrong with them, they are only not found."""

    @property
    def elsewhere(self) -> str | None:
        """What they lie in where others can read it; None in this process."""
        ...

    @property
    def identity(self) -> Identity:
        """What makes two requests the same."""
        ...

    def key(self, request: Request) -> str:
        """Of the request's answer; `NO_KEY` for one that may not leave the device (R32)."""
        ...

    async def get(self, key: str) -> Completion | None:
        """The answer under this key. Its `model` is the name of the backend that gave it."""
        ...

    def put(self, key: str, completion: Completion) -> None:
        """Keeps such an answer from now on; never waits."""
        ...


class Store(Protocol):
    """Bytes by key, in another process. Neither raises, nor takes longer than its time limit."""

    async def get(self, key: str) -> bytes | None:
        """What lies under a key; None also where that cannot be said now."""
        ...

    def put(self, key: str, value: bytes, ttl_s: float) -> None:
        """Puts it there for so long, in the background; never waits."""
        ...

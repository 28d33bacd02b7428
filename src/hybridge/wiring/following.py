"""Notices that another version of a model is to be in force, and tells whoever uses the model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress

from hybridge.core.errors import ModelError
from hybridge.modelstore.model_library import Library
from hybridge.modelstore.place import Unreachable
from hybridge.wiring import watch

Moved = Callable[[], Awaitable[bool]]
"""Told that the pointer of a model may have changed; looks for itself, and says whether it is where
the pointer points. Else it is told again."""
_log = logging.getLogger("hybridge.models")


class Following:
    """Watches the pointers of models by name: in a folder by the system's notices, in a bucket by
    asking for them."""

    def __init__(self, library: Library, poll_s: float) -> None:
        self.models = library
        self._poll_s = poll_s
        self._followers: dict[str, list[Moved]] = {}
        self._seen: dict[str, int] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._looking = asyncio.Lock()
        self._lost = False
        """Whether the store could not be reached last time."""

    def follow(self, name: str, moved: Moved) -> Callable[[], None]:
        """From now on `moved` is told of the model, until what this returns is called."""
        followers = self._followers.setdefault(name, [])
        followers.append(moved)
        self._seen.pop(name, None)

        def leave() -> None:
            with suppress(ValueError):
                followers.remove(moved)

        return leave

    async def run(self) -> None:
        """Looks until cancelled: now and then, and where files change at once."""
        try:
            await asyncio.gather(self._now_and_then(), self._at_once())
        finally:
            for task in self._telling:
                task.cancel()
            await asyncio.gather(*self._telling, return_exceptions=True)

    async def look(self) -> None:
        """Tells those whose pointer has changed since the last look, or was never looked at."""
        async with self._looking:
            for name in [name for name, followers in self._followers.items() if followers]:
                try:
                    pointer = await asyncio.to_thread(self.models.store.pointer, name)
                except Unreachable as error:
                    self._say_lost(error)
                    return
                except ModelError:
                    _log.exception("the versions of %s cannot be read", name)
                    continue
                self._say_found()
                if self._seen.get(name) != pointer.number:
                    self._seen[name] = pointer.number
                    for moved in self._followers[name]:
                        self._tell(name, moved)

    def _tell(self, name: str, moved: Moved) -> None:
        async def tell() -> None:
            try:
                if not await moved():
                    self._seen.pop(name, None)
            except Exception:
                _log.exception("following the versions of %s broke", name)

        task = asyncio.create_task(tell(), name=f"versions of {name}")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _now_and_then(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(self._poll_s)

    async def _at_once(self) -> None:
        pointers = self.models.pointers
        if pointers is not None:
            changed = watch.changes(lambda: pointers(sorted(self._followers)), {})
            async with aclosing(changed):
                async for _ in changed:
                    await self.look()

    def _say_lost(self, error: Unreachable) -> None:
        if not self._lost:
            _log.warning("%s; what is loaded goes on meanwhile", error)
        self._lost = True

    def _say_found(self) -> None:
        if self._lost:
            _log.info("%s can be reached again", self.models.store.place.address)
        self._lost = False

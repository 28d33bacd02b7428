"""The steps of one model in the store, taken by the gateway itself."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from hybridge.core.clock import Clock
from hybridge.core.errors import ModelError
from hybridge.modelstore.model_library import Library
from hybridge.modelstore.place import Conflict, Unreachable
from hybridge.modelstore.pointer import Cause, Pointer, rolled_back

_log = logging.getLogger("hybridge.models")


class Steps:
    """Off the event loop. What cannot be taken back in the store is taken back for this process."""

    def __init__(self, library: Library, name: str, clock: Clock) -> None:
        self.name = name
        self._library = library
        self._clock = clock
        self._instead: tuple[int, Pointer] | None = None
        """In place of the step of that number."""

    async def pointer(self) -> Pointer:
        """What is in force, by what is known here. Raises `Unreachable`."""
        pointer = await asyncio.to_thread(self._library.store.pointer, self.name)
        if self._instead is not None and self._instead[0] == pointer.number:
            return self._instead[1]
        return pointer

    async def at_start(self, *, has_base: bool) -> Pointer:
        """The same; where the store cannot be reached, what was in force last. Raises
        `Unreachable` where that is not known either, and nothing else could be loaded."""
        try:
            return await self.pointer()
        except Unreachable as error:
            pointer = await asyncio.to_thread(self._library.remembered, self.name)
            if pointer.active is None and not has_base:
                raise
            known = pointer.active or "the catalogue's weights"
            _log.warning("%s; %s starts with %s", error, self.name, known)
            return pointer

    async def bring(self, version: str) -> Path:
        """The folder of a version's files, checked. Raises `ModelError`."""
        return await asyncio.to_thread(self._library.bring, self.name, version)

    async def remember(self, pointer: Pointer) -> None:
        """Notes what is in force, for a start without the store."""
        await asyncio.to_thread(self._library.remember, self.name, pointer)

    async def take_back(self, pointer: Pointer, failed: str, why: str) -> None:
        """Rolls back what failed, unless somebody has changed it meanwhile."""
        try:
            await asyncio.to_thread(
                self._library.store.roll_back,
                self.name,
                by="gateway",
                reason=why,
                failed=failed,
                only_if=pointer.number,
            )
        except Conflict:
            return
        except ModelError as error:
            _log.warning("%s is not rolled back in the store: %s", self.name, error)
            self._instead = pointer.number, self._without(pointer, failed)

    async def promote(self, pointer: Pointer, version: str, why: str) -> bool:
        """Makes a canary the active version; whether that is done, or no longer wanted."""
        try:
            await asyncio.to_thread(
                self._library.store.activate,
                self.name,
                version,
                by="gateway",
                reason=why,
                only_if=pointer.number,
            )
        except Conflict:
            return True
        except ModelError as error:
            _log.warning("%s stays a canary: %s", version, error)
            return False
        return True

    def nothing(self) -> str:
        """Why nothing can be loaded, and the way out."""
        return (
            f"no version of {self.name} is active in {self._library.store.place.address}: push one "
            f"(hybridge models push {self.name} PATH) and activate it (hybridge models activate "
            f"{self.name}), or give a path to a .gguf file (engine `ortgenai`: to a folder), or a "
            "name of hybridge models list"
        )

    def _without(self, pointer: Pointer, failed: str) -> Pointer:
        cause = Cause(self._clock.now(), "gateway")
        try:
            return rolled_back(pointer, pointer.before, cause, failed=failed)
        except ModelError:
            return Pointer(last=pointer.last)  # nothing is left but what there is

"""Taking over a changed configuration while requests go on, or keeping the last good one."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from hybridge.core.errors import ConfigError, ModelError
from hybridge.gateway.status import Refusal
from hybridge.settings import Settings
from hybridge.settings.changes import version
from hybridge.settings.paths import ROUTING_FILES
from hybridge.wiring import watch
from hybridge.wiring.house import House
from hybridge.wiring.lasting import Secrecy

_log = logging.getLogger("hybridge.reload")


class Reloader:
    """Reads the settings anew when it is asked to, and has the house take them."""

    def __init__(
        self, house: House, read: Callable[[], Settings], path: Path, redact: Secrecy
    ) -> None:
        self._house = house
        self._read = read
        self._path = path
        self._redact = redact
        self._latest = house.wanted
        self._asked = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def ask(self) -> None:
        """Reloads soon, whether or not the files have changed."""
        self._asked.set()

    async def answer(self) -> None:
        """Reloads whenever it was asked to."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            await self.reload()

    async def watch(self) -> None:
        """Reloads whenever one of the files has changed, or had changed since it was first read."""
        seen = await watch.fingerprint(self._files())
        if await self._is_outdated():
            self.ask()
        async for _ in watch.changes(self._files, seen):
            await self.reload()

    async def reload(self) -> bool:
        """Whether the configuration of now is in force; if not, the last good one stays."""
        async with self._one_at_a_time:
            try:
                self._latest = await asyncio.to_thread(self._read)
                changed = await self._house.take(self._latest)
            except (ConfigError, ModelError) as error:
                self._refuse(error)
                return False
            except Exception as error:
                _log.exception("reloading broke")
                self._refuse(error)
                return False
            self._tell(changed)
            return True

    async def _is_outdated(self) -> bool:
        try:
            now = await asyncio.to_thread(self._read)
        except ConfigError:
            return True
        return version(now) != self._house.gateway.config.version

    def _files(self) -> Sequence[Path]:
        named = (getattr(self._latest.routing, name) for name in ROUTING_FILES)
        return (self._path, *(path for path in named if path is not None))

    def _tell(self, changed: Sequence[str]) -> None:
        said = self._redact("; ".join(changed) or "nothing changed")
        _log.info("reloaded (%d): %s", len(changed), said)
        if waiting := self._house.gateway.config.restart_needed:
            _log.warning("in force after a restart only: %s", ", ".join(waiting))

    def _refuse(self, error: Exception) -> None:
        message = self._redact("; ".join(str(error).splitlines()))
        gateway = self._house.gateway
        refusal = Refusal(self._house.clock.now(), message)
        gateway.config = replace(gateway.config, last_error=refusal)
        _log.error("not reloaded, configuration %s stays: %s", gateway.config.version, message)


@asynccontextmanager
async def reloading(
    house: House, read: Callable[[], Settings], path: Path, redact: Secrecy
) -> AsyncIterator[Reloader]:
    """As long as the block lasts, a change of the files or SIGHUP makes the house take it over."""
    reloader = Reloader(house, read, path, redact)
    tasks = [asyncio.create_task(work) for work in (reloader.answer(), reloader.watch())]
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
        loop.add_signal_handler(signal.SIGHUP, reloader.ask)
    try:
        yield reloader
    finally:
        with suppress(NotImplementedError, RuntimeError, ValueError, AttributeError):
            loop.remove_signal_handler(signal.SIGHUP)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

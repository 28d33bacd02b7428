"""Fetching a model in view, beside a gateway that listens already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from hybridge.cli.progress import downloading

if TYPE_CHECKING:
    from hybridge.settings import Settings


def fetch(settings: Settings) -> Callable[[str], Awaitable[None]]:
    """Fetches a model of the catalogue by its name, where it is not here yet; others are left
    alone. Raises `ModelError`."""
    from hybridge import wiring
    from hybridge.modelstore.catalogue import CATALOGUE

    fetching = wiring.fetcher(settings)

    async def fetched(name: str) -> None:
        if name in CATALOGUE:
            with downloading(f"fetching {name}") as advance:
                await _aside(lambda: fetching.ensure(name, advance))

    return fetched


async def _aside(work: Callable[[], object]) -> None:
    """Runs blocking work in a thread that does not keep the process alive.

    A download would hold up the end of asyncio's own threads, and so Ctrl-C, until it is done.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def end(error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        failed: Exception | None = None
        try:
            work()
        except Exception as error:
            failed = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(end, failed)

    threading.Thread(target=run, name="fetch", daemon=True).start()
    await done

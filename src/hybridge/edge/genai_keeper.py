"""Keeps a worker process there: one that is lost is started again, a few times."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hybridge.core.errors import ModelError
from hybridge.edge.genai_process import Worker

RESTARTS = 5
"""So often in a row a worker is started again."""
BACKOFF_S = 0.5
"""Before the first of them; each later one waits twice as long as the one before."""
STEADY_S = 60.0
"""A worker that lived so long begins a new row."""

_log = logging.getLogger("hybridge.backends")


class Keeper:
    """Has a worker, or says why there is none."""

    def __init__(
        self,
        worker: Worker,
        start: Callable[[], Awaitable[Worker]],
        name: str,
        *,
        backoff_s: float = BACKOFF_S,
    ) -> None:
        self._worker: Worker | None = worker
        self._why = ""
        self.given_up = False
        """Whether none will come any more."""
        self._start = start
        self._name = name
        self._backoff_s = backoff_s
        self._watching = asyncio.create_task(self._watch(worker), name=f"keeper of {name}")

    @property
    def why(self) -> str:
        """How the last one was lost, or could not be started."""
        worker = self._worker
        return _lost(worker.end) if worker is not None and worker.end else self._why

    @property
    def worker(self) -> Worker | None:
        """None while there is none."""
        worker = self._worker
        return None if worker is None or worker.end else worker

    async def close(self) -> None:
        """Ends the worker; none comes after it."""
        self._watching.cancel()
        await asyncio.wait({self._watching})  # a worker that was being started is ended by then
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.close()

    async def _watch(self, worker: Worker) -> None:
        loop, row = asyncio.get_running_loop(), 0
        while True:
            since = loop.time()
            self._why = _lost(await asyncio.shield(worker.lost))
            self._worker = None
            row = 0 if loop.time() - since >= STEADY_S else row
            while self._worker is None:
                if row >= RESTARTS:
                    self.given_up = True
                    _log.error("%s: %s; it is not started again", self._name, self._why)
                    return
                _log.error("%s: %s; it is started again", self._name, self._why)
                await asyncio.sleep(self._backoff_s * 2**row)
                row += 1
                try:
                    self._worker = worker = await self._start()
                except ModelError as error:
                    self._why = str(error)


def _lost(how: str) -> str:
    return f"its worker process {how}"

"""The demo's stand-in for a cloud: a local model behind a real HTTP server, far away on purpose."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

from hybridge.core.backend import Backend, BackendSpec, Call
from hybridge.core.errors import HybridgeError
from hybridge.core.response import Event

MODEL = "qwen2.5-0.5b"
DISTANCE_S = (0.2, 0.8)
"""Added to each answer, drawn evenly: what a real cloud takes to begin."""
START_TIMEOUT_S = 60.0


class Distant:
    """Wraps a backend as if it were far away."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def spec(self) -> BackendSpec:
        return self._backend.spec

    async def answer(self, call: Call) -> AsyncGenerator[Event, None]:
        """The wrapped backend's answer, later."""
        await asyncio.sleep(random.uniform(*DISTANCE_S))  # noqa: S311 - a delay, not a secret
        async with aclosing(self._backend.answer(call)) as events:
            async for event in events:
                yield event

    async def probe(self) -> None:
        await self._backend.probe()


class StandIn:
    """The stand-in's process. Killed, it keeps its port for its next life."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self.port = 0

    @property
    def base_url(self) -> str:
        """Where its chat completions are."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        """Starts the process and waits until it listens. Raises `HybridgeError`."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __spec__.name, str(self.port), stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        async with asyncio.timeout(START_TIMEOUT_S):
            line = await self._process.stdout.readline()
        if not line.strip().isdigit():
            raise HybridgeError("the stand-in cloud did not start")
        self.port = int(line)

    async def kill(self) -> None:
        """Ends the process at once, in the middle of whatever it does."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()


async def _main(port: int) -> None:
    from hybridge import wiring
    from hybridge.server.serve import Listener
    from hybridge.settings import parse

    settings = parse(
        {
            "server": {"port": port, "report_in_body": False},
            "edge": {"backends": [{"name": MODEL, "model": MODEL, "slots": 2, "threads": 1}]},
            "records": {"url": None},
            "privacy": {"action": "allow"},
        }
    )
    async with wiring.open_house(settings, around=Distant) as house:
        await house.loaded()
        listener = Listener(house.app, settings.server)
        async with listener:
            print(listener.port, flush=True)
            await listener.until_stopped()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1])))

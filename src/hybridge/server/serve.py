"""Listening: a socket, uvicorn on it, and an end that cuts nobody short (R85)."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Coroutine, Generator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import uvicorn

from hybridge.core.errors import ConfigError
from hybridge.server.app import App
from hybridge.server.config import ServerConfig
from hybridge.server.protocol import Protocol

T = TypeVar("T")

LAST_WORDS_S = 2.0
"""How long connections may take to close once everything is said."""
KEEP_ALIVE_S = 75
"""How long an idle connection stays open; nginx's own default, longer than most clients' pools."""
BACKLOG = 2048
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Listener:
    """Serves an application as long as the block lasts, then drains it.

    The end of the block refuses new work at once, lets answers under way finish within
    `config.grace_s`, closes the remaining streams with an error event, and frees the port.
    """

    def __init__(
        self, app: App, config: ServerConfig, *, listening: socket.socket | None = None
    ) -> None:
        """`listening`: a socket of your own, instead of `config.host` and `config.port`."""
        self._drain = app.drain
        self._config = config
        self._socket = listening
        self._server = _Uvicorn(uvicorn.Config(
            app, loop="none", http=Protocol, ws="none", lifespan="off", interface="asgi3",
            access_log=False, log_config=None, server_header=False, proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S, timeout_graceful_shutdown=int(LAST_WORDS_S),
        ))  # fmt: skip
        self._stopped = asyncio.Event()
        self._hurried = asyncio.Event()

    @property
    def port(self) -> int:
        """The port listened on."""
        return int(self._bound.getsockname()[1])

    @property
    def url(self) -> str:
        """Where the gateway is, without a path."""
        host = self._config.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    async def __aenter__(self) -> Self:
        """Raises `ConfigError` when the address cannot be listened on."""
        self._bound = self._socket or _bind(self._config.host, self._config.port)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._bound]))
        return self

    async def until_stopped(self) -> None:
        """Waits for SIGINT, SIGTERM or `stop`."""
        self._on_signals(self.stop)
        waiting = asyncio.create_task(self._stopped.wait())
        await asyncio.wait((waiting, self._serving), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    def stop(self) -> None:
        """Begins the end; called again, it ends without grace."""
        if self._stopped.is_set():
            self._hurried.set()
        self._drain.begin()
        self._stopped.set()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._drain.begin()
        self._stopped.set()
        try:
            if kind is None:
                await self._finish_work()
        finally:
            self._drain.cut()
            self._server.should_exit = True
            self._server.force_exit = self._hurried.is_set()
            await self._serving
            self._on_signals(None)

    async def _finish_work(self) -> None:
        """Returns when all answers are given, the grace is over, or somebody is in a hurry."""
        idle = asyncio.create_task(self._drain.idle(self._config.grace_s))
        hurried = asyncio.create_task(self._hurried.wait())
        await asyncio.wait((idle, hurried), return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        hurried.cancel()

    def _on_signals(self, act: Any) -> None:
        """Sets what signals do, or sets it back; outside the main thread there are none."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in _SIGNALS:
                if act is None:
                    loop.remove_signal_handler(number)
                else:
                    loop.add_signal_handler(number, act)


class _Uvicorn(uvicorn.Server):
    """Leaves signals to the listener, which drains first."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` on uvloop, where there is one for this system."""
    try:
        from uvloop import new_event_loop  # there is none for Windows
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = host == "::" and socket.has_dualstack_ipv6()  # every address, of either kind
    try:
        return socket.create_server(
            (host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both
        )
    except OSError as error:
        raise ConfigError(
            f"server: cannot listen on {host} port {port}: {error.strerror or error}. "
            "Choose another with --port or server.port (0: any free one)"
        ) from error

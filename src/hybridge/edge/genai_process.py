"""A worker process of `ortgenai`, as the gateway sees it."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from hybridge.core.clock import Deadline
from hybridge.core.errors import ModelError
from hybridge.edge.genai_spawn import spawned
from hybridge.edge.genai_wire import (
    Ask,
    Ended,
    Failed,
    Frames,
    Load,
    Ready,
    Said,
    Stop,
    ToGateway,
    ToWorker,
    framed,
)
from hybridge.edge.refused import Refused

STUCK_S = 30.0
"""A worker that goes on with what it was told to stop for so long is killed."""
CLOSE_S = 5.0
"""So long it has to end by itself."""
_READ_BYTES = 1 << 16


class Broken(Exception):
    """The worker, or the library in it, failed an answer."""


class WorkerAnswer:
    """One answer that a worker computes. See `answering.Running`."""

    def __init__(self, stop: Callable[[], None], kill: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self.stopped = False
        self.finished: asyncio.Future[None] = loop.create_future()
        self._said: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        self._tell_worker = stop
        self._kill = kill
        self._overdue: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """Ends it at its next token or prompt batch; a worker that does not is killed."""
        if self.stopped or self.finished.done():
            return
        self.stopped = True
        self._tell_worker()
        self._overdue = asyncio.get_running_loop().call_later(STUCK_S, self._kill)

    async def next(self, deadline: Deadline) -> str | None:
        """The next piece, or None at the end. Raises `TimeoutError`, `Refused` or `Broken`."""
        async with asyncio.timeout(deadline.remaining_s):
            said = await self._said.get()
        if isinstance(said, Exception):
            raise said
        return said

    def hear(self, piece: str) -> None:
        """A piece came."""
        if not self.stopped:
            self._said.put_nowait(piece)

    def end(self, error: Exception | None = None) -> None:
        """Nothing more comes."""
        if self._overdue is not None:
            self._overdue.cancel()
        if not self.finished.done():
            self._said.put_nowait(error)
            self.finished.set_result(None)


class Worker:
    """One process with one loaded model."""

    def __init__(
        self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._frames: Frames[ToGateway] = Frames(ToGateway)
        self._answers: dict[int, WorkerAnswer] = {}
        self._asked = 0
        self.end = ""
        """How the process ended; empty while it runs."""
        self.build = ""
        """What the library calls itself in answers."""
        self.lost: asyncio.Task[str]
        """Ends with the process; its result says how that ended."""

    @classmethod
    async def start(cls, load: Load) -> Self:
        """Starts a process and has it load the model. Raises `ModelError`."""
        try:
            worker = cls(*await spawned())
        except OSError as error:
            raise ModelError(f"no worker process can be started: {error}") from error
        await worker.load(load)
        return worker

    async def load(self, load: Load) -> None:
        """Has the model loaded; where that fails, or is given up, the process ends."""
        try:
            self._send(load)
            await self._loaded(load)
        except BaseException:
            await self._end_process(at_once=True)
            raise
        self.lost = asyncio.create_task(self._listen(), name=f"worker of {load.alias}")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def next_number(self) -> int:
        """For the next request."""
        return self._asked + 1

    def ask(self, ask: Ask) -> WorkerAnswer:
        """Begins an answer; its number must be the next one."""
        number = self._asked = ask.number
        answer = WorkerAnswer(lambda: self._send(Stop(number)), self.kill)
        if self.end:
            answer.end(Broken(f"its worker process {self.end}"))
        else:
            self._answers[number] = answer
            self._send(ask)
        return answer

    def kill(self) -> None:
        """Ends the process at once, whatever it does."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Ends the process; returns when it is gone."""
        self._writer.close()
        await self._end_process(at_once=False)
        await self.lost

    def _send(self, message: ToWorker) -> None:
        self._writer.write(framed(message))

    async def _loaded(self, load: Load) -> None:
        messages: list[ToGateway] = []
        while not messages:
            if not (data := await self._read()):
                how = await self._end_process(at_once=False)
                raise ModelError(f"{load.folder} cannot be loaded: its worker process {how}")
            messages = self._frames.feed(data)
        if isinstance(messages[0], Failed):
            raise ModelError(f"{load.folder} cannot be loaded: {messages[0].why}")
        assert isinstance(messages[0], Ready)  # noqa: S101 - it says nothing else first
        self.build = messages[0].build

    async def _listen(self) -> str:
        """Hands on what the worker says, until it is gone."""
        while data := await self._read():
            for message in self._frames.feed(data):
                self._take(message)
        self.end = await self._end_process(at_once=False)
        for answer in self._answers.values():
            answer.end(Broken(f"its worker process {self.end}"))
        self._answers.clear()
        return self.end

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(_READ_BYTES)
        except OSError:
            return b""

    def _take(self, message: ToGateway) -> None:
        if isinstance(message, Said) and (answer := self._answers.get(message.number)):
            answer.hear(message.piece)
        elif isinstance(message, Ended) and (answer := self._answers.pop(message.number, None)):
            answer.end(_error(message))

    async def _end_process(self, *, at_once: bool) -> str:
        """Waits for its end, and brings it about where it does not come. Says how it ended."""
        if at_once:
            self.kill()
        try:
            async with asyncio.timeout(CLOSE_S):
                code = await self._process.wait()
        except TimeoutError:
            self.kill()
            code = await self._process.wait()
        self._writer.close()
        return _how(code)


def _error(ended: Ended) -> Exception | None:
    if ended.param is not None:
        return Refused(ended.param, ended.why or "cannot be taken", code=ended.code)
    return None if ended.why is None else Broken(ended.why)


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    with suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"

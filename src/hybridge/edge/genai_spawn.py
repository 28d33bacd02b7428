"""Starts the process of a worker of `ortgenai`, with a connection to it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping

Spawned = tuple[Process, asyncio.StreamReader, asyncio.StreamWriter]

_MODULE = "hybridge.edge.genai_worker"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Of numpy's own: the compute threads are ONNX Runtime's alone."""


async def spawned() -> Spawned:
    """The process, and the two ends of what is said. Raises `OSError`.

    Its connection is a socket of its own, so that whatever a library prints disturbs nothing, and
    no other process has the gateway's end: when the gateway dies the worker hears it.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = await _started(theirs)
        return process, *await asyncio.open_unix_connection(sock=ours)
    except BaseException:
        ours.close()
        raise


async def _started(theirs: socket.socket) -> Process:
    """A start that is given up half-way would leave a process that nobody knows."""
    starting = asyncio.create_task(_start(theirs.fileno()))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        process.kill()
        await process.wait()
        raise


async def _start(number: int) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", _MODULE, str(number), str(os.getpid())),
        stdin=DEVNULL,
        stdout=DEVNULL,
        pass_fds=(number,),
        env=_environment(),
    )


def _environment() -> Mapping[str, str]:
    """Ours, and the places where this process finds its modules."""
    places = os.pathsep.join(place for place in sys.path if place)
    return {**os.environ, **_ONE_THREAD, "PYTHONPATH": places}

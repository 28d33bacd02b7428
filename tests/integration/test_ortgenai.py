"""The gateway with a model of ONNX Runtime GenAI: a tiny one, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import pytest
from tests.unit.edge.genai_model import STORY, TINY

pytestmark = pytest.mark.anyio

COUNTED = "One two three four five six seven eight nine ten."


def worker_of(gateway) -> int:
    found = subprocess.run(
        ("pgrep", "-P", str(gateway.process.pid), "-f", "genai_worker"),
        capture_output=True,
        check=True,
    )
    return int(found.stdout)


async def test_it_answers_hangs_up_comes_back_and_leaves_nothing(start):
    row = {"name": "local", "engine": "ortgenai", "model": str(TINY), "slots": 1, "queue": 0}
    asked = {"model": "local", "temperature": 0}
    async with start({"edge": {"backends": [row]}}) as gateway:
        assert (await gateway.chat("Count.", **asked)).text == COUNTED
        assert (await gateway.chat("Count.", stream=True, **asked)).text == COUNTED
        too_long = await gateway.chat("word " * 3000, **asked)
        assert (too_long.status, too_long.json["error"]["code"]) == (400, "context_length_exceeded")

        long = asyncio.ensure_future(gateway.chat(STORY, stream=True, max_tokens=900, **asked))
        await asyncio.sleep(0.2)
        long.cancel()
        await answered(gateway, asked)

        lost = worker_of(gateway)
        os.kill(lost, signal.SIGKILL)
        await answered(gateway, asked)
        worker = worker_of(gateway)
        assert worker != lost

        gateway.process.kill()
        await gateway.process.wait()
        async with asyncio.timeout(20):
            while is_alive(worker):
                await asyncio.sleep(0.05)


async def answered(gateway, asked) -> None:
    async with asyncio.timeout(60):
        while (await gateway.chat("Count.", **asked)).status != 200:
            await asyncio.sleep(0.1)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

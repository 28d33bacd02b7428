"""The worker process of `ortgenai`: stopped, killed, stuck, orphaned, and started again."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
from tests.unit.edge.genai_model import STORY, TINY, loaded
from tests.unit.edge.local_model import call, fault, whole

from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.edge import genai_folder, genai_keeper, genai_process

pytestmark = pytest.mark.anyio

LONG = {"stream": True, "max_tokens": 400, "temperature": 0}


@asynccontextmanager
async def opened(**given):
    backend = await loaded(**given)
    try:
        yield backend
    finally:
        await backend.close()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def gone(pid: int) -> None:
    async with asyncio.timeout(20):
        while is_alive(pid):
            await asyncio.sleep(0.02)


async def well_again(backend, *, after: int) -> None:
    """Waits for another worker than that; its end may not have been noticed yet."""
    async with asyncio.timeout(60):
        while backend.pid in (None, after):
            await asyncio.sleep(0.02)
    await backend.probe()


async def test_a_dropped_answer_frees_its_slot_and_so_does_a_missed_deadline():
    async with opened(queue=1) as backend:
        answer = backend.answer(call(STORY, **LONG))
        await anext(answer)
        await answer.aclose()
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text
        with pytest.raises(BackendError) as caught:
            _ = [e async for e in backend.answer(call(STORY, within_s=0.05, **LONG))]
        assert caught.value.fault is Fault.TIMEOUT
        reading = asyncio.create_task(whole(backend, call("word " * 200, max_tokens=300)))
        await asyncio.sleep(0.02)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_a_full_queue_is_busy_and_says_when_to_come_back():
    async with opened(queue=0) as backend:
        answer = backend.answer(call(STORY, **LONG))
        await anext(answer)
        error = await fault(backend, call("Say hi."))
        assert (error.fault, bool(error.retry_after_s)) == (Fault.BUSY, True)
        await answer.aclose()


async def test_a_lost_worker_fails_its_answers_and_another_one_takes_its_place():
    async with opened(slots=2) as backend:
        old = backend.pid
        running = backend.answer(call(STORY, **LONG))
        await anext(running)
        os.kill(old, signal.SIGKILL)
        with pytest.raises(BackendError, match="SIGKILL") as caught:
            _ = [event async for event in running]
        assert caught.value.fault is Fault.SERVER
        refused = await fault(backend, call("Say hi."))
        assert (refused.fault, bool(refused.retry_after_s)) == (Fault.REFUSED, True)
        assert "SIGKILL" in str(refused)
        await well_again(backend, after=old)
        assert (await whole(backend, call("Say hi.", temperature=0))).text == "Hi there, my friend!"


async def test_a_worker_that_cannot_come_back_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(genai_keeper, "RESTARTS", 2)
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    async with opened(folder=folder) as backend:
        shutil.rmtree(folder)
        os.kill(backend.pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            while (error := await fault(backend, call("Say hi."))).fault is not Fault.NETWORK:
                await asyncio.sleep(0.02)
        assert "in vain" in str(error)
        with pytest.raises(BackendError):
            await backend.probe()


async def test_a_worker_that_does_not_stop_is_killed(monkeypatch):
    async with opened() as backend:
        answer = backend.answer(call(STORY, **LONG))
        await anext(answer)
        stuck = backend.pid
        os.kill(stuck, signal.SIGSTOP)
        with monkeypatch.context() as impatient:  # the next worker is slow here now and then
            impatient.setattr(genai_process, "STUCK_S", 0.1)
            await answer.aclose()
        await gone(stuck)
        await well_again(backend, after=stuck)
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_closing_ends_what_runs_or_waits_and_leaves_no_process():
    backend = await loaded()
    pid = backend.pid
    running = backend.answer(call(STORY, **LONG))
    await anext(running)
    waiting = asyncio.create_task(whole(backend, call("Say hi.")))
    await asyncio.sleep(0)
    await backend.close()
    assert not is_alive(pid)
    with pytest.raises(BackendError) as ended:
        _ = [event async for event in running]
    with pytest.raises(BackendError) as refused:
        await waiting
    with pytest.raises(BackendError) as down:
        await backend.probe()
    assert {e.value.fault for e in (ended, refused, down)} == {Fault.NETWORK}


async def test_signals_that_end_the_gateway_are_left_to_it():
    async with opened() as backend:
        for ignored in (signal.SIGINT, signal.SIGTERM):
            os.kill(backend.pid, ignored)
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_a_gateway_that_is_killed_leaves_no_worker():
    program = (
        "import asyncio\n"
        "from tests.unit.edge.genai_model import loaded, STORY\n"
        "from tests.unit.edge.local_model import call\n"
        "async def main():\n"
        "    backend = await loaded()\n"
        "    answer = backend.answer(call(STORY, stream=True, max_tokens=400))\n"
        "    await anext(answer)\n"
        "    print(backend.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    gateway = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program), stdout=asyncio.subprocess.PIPE
    )
    worker = int(await gateway.stdout.readline())
    assert is_alive(worker)
    gateway.kill()
    await gateway.wait()
    await gone(worker)


async def test_giving_up_a_load_leaves_no_worker():
    before = set(children())
    loading = asyncio.create_task(loaded())
    while not (new := set(children()) - before):
        await asyncio.sleep(0.005)
    loading.cancel()
    await asyncio.gather(loading, return_exceptions=True)
    for pid in new:
        assert not is_alive(pid)


def children() -> list[int]:
    found = subprocess.run(
        ("pgrep", "-P", str(os.getpid()), "-f", "genai_worker"), capture_output=True, check=False
    )
    return [int(pid) for pid in found.stdout.split()]


@pytest.mark.parametrize("broken", ["missing", "no config", "a picture model", "no weights", "cut"])
async def test_a_folder_that_cannot_be_loaded_is_named(tmp_path, broken):
    folder = tmp_path / "other"
    if broken != "missing":
        shutil.copytree(TINY, folder)
    config = folder / "genai_config.json"
    if broken == "no config":
        config.unlink()
    elif broken == "a picture model":
        config.write_text(config.read_text().replace('"model": {', '"model": {"vision": {"a": 1},'))
    elif broken == "no weights":
        (folder / "model.onnx").unlink()
    elif broken == "cut":
        (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:5000])
    with pytest.raises(ModelError, match=r"local: .*other"):
        await loaded(folder)
    assert not children()


async def test_without_the_library_its_extra_is_named(monkeypatch):
    monkeypatch.setattr(genai_folder, "_LIBRARIES", ("no_such_library",))
    with pytest.raises(ModelError, match=r'pip install "hybridge\[ortgenai\]"'):
        await loaded()

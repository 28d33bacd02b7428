"""Many requests for one local model, and another model in its place, with real ones."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.edge.local_model import STORY, Opened, call, loaded, whole

from hybridge.core.errors import BackendError, Fault, ModelError
from hybridge.edge.llamacpp import LlamaCpp
from hybridge.edge.reloadable import Reloadable, State

pytestmark = [pytest.mark.anyio, pytest.mark.model]

WORDS = ("apple", "river", "candle", "tiger", "window", "silver", "pepper", "garden")


async def spell(backend: LlamaCpp, word: str, ended: list[str], *, stream: bool) -> str:
    """Has a word repeated: only who reads its own prompt can."""
    asked = call(f"Say only this word: {word}", stream=stream, max_tokens=8, temperature=0)
    text = "".join([event.text async for event in backend.answer(asked)])
    ended.append(word)
    return text


async def test_a_crowd_for_one_slot_is_served_in_turn_and_never_mixed_up(opened: Opened) -> None:
    async with opened(slots=1, queue=7, context_tokens=256) as backend:
        alone = {word: await spell(backend, word, [], stream=False) for word in WORDS}
        ended: list[str] = []
        tasks = {}
        for number, word in enumerate(WORDS):
            stream = number % 2 == 0
            tasks[word] = asyncio.create_task(spell(backend, word, ended, stream=stream))
            await asyncio.sleep(0)
        for word in ("candle", "silver"):
            tasks[word].cancel()
        answers = await asyncio.gather(*tasks.values(), return_exceptions=True)
        served = [word for word in WORDS if word not in ("candle", "silver")]
        assert ended == served
        for word, answer in zip(WORDS, answers, strict=True):
            assert answer == alone[word] if word in served else isinstance(answer, BaseException)
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


async def test_beyond_the_queue_it_is_busy_at_once(opened: Opened) -> None:
    async with opened(slots=1, queue=4) as backend:
        running = backend.answer(call(STORY, stream=True, max_tokens=400))
        await anext(running)
        waiting = [
            asyncio.create_task(whole(backend, call(f"Say {word}.", max_tokens=2)))
            for word in WORDS
        ]
        await asyncio.sleep(0.05)
        refused = [task.exception() for task in waiting if task.done()]
        assert len(refused) == len(WORDS) - 4
        for error in refused:
            assert isinstance(error, BackendError)
            assert error.fault is Fault.BUSY
            assert error.retry_after_s
        waiting[0].cancel()
        await running.aclose()
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        assert sum(not isinstance(answer, BaseException) for answer in answers) == 3
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text


@pytest.fixture
async def reloadable(smollm2: Path) -> AsyncIterator[Reloadable]:
    first = await loaded(smollm2, model="first", version="v1", slots=2)

    async def there() -> LlamaCpp:
        return first

    backend = Reloadable(first.spec, there)
    await backend.load()
    yield backend
    await backend.unload()


async def test_a_model_is_exchanged_while_it_answers(smollm2: Path, reloadable: Reloadable) -> None:
    running = reloadable.answer(call(STORY, stream=True, max_tokens=60))
    said = [await anext(running)]
    await reloadable.swap(lambda: loaded(smollm2, model="second", version="v2"))
    new = [e async for e in reloadable.answer(call("Say hi.", max_tokens=2))]
    said += [event async for event in running]
    assert {event.model for event in said} == {"first"}
    assert [e.finish_reason for e in said if e.finish_reason]
    assert {json.loads(e.wire)["system_fingerprint"] for e in said} == {"v1"}
    assert [(e.model, json.loads(e.wire)["system_fingerprint"]) for e in new] == [("second", "v2")]


@pytest.mark.parametrize("broken", ["cut off", "another format", "missing", "too large"])
async def test_a_model_that_cannot_be_loaded_leaves_the_old_one(
    smollm2: Path, reloadable: Reloadable, tmp_path: Path, broken: str
) -> None:
    path = tmp_path / "other.gguf"
    if broken == "cut off":
        with smollm2.open("rb") as file:
            path.write_bytes(file.read(20_000_000))
    elif broken == "another format":
        path.write_bytes(b"PK\x03\x04 a zip file")
    elif broken == "too large":
        with smollm2.open("rb") as file:
            path.write_bytes(file.read(5_000_000))
        with path.open("r+b") as file:
            file.truncate(1 << 42)  # takes no room on the disk
    running = reloadable.answer(call(STORY, stream=True, max_tokens=20))
    await anext(running)
    with pytest.raises(ModelError, match=r"other\.gguf .*; local goes on with first"):
        await reloadable.swap(lambda: loaded(path, model="second"))
    assert reloadable.state == State("ready")
    assert [event async for event in running][-1].model == "first"
    (answer,) = [e async for e in reloadable.answer(call("Say hi.", max_tokens=2))]
    assert answer.model == "first"


async def test_a_file_that_is_gone_by_then_changes_nothing_for_the_loaded(
    smollm2: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "model.gguf"
    shutil.copy(smollm2, copy)
    backend = await loaded(copy)
    copy.unlink()
    try:
        assert (await whole(backend, call("Say hi.", max_tokens=2))).text
    finally:
        await backend.close()

"""Versions of a model that is a folder: ONNX Runtime GenAI, in a gateway that serves meanwhile."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.edge.genai_model import TINY
from tests.unit.wiring.scene import request, until

from hybridge.core.errors import ModelError
from hybridge.core.events import ModelSwitched
from hybridge.core.wire import parse
from hybridge.modelstore.versions import Versions
from hybridge.settings import Settings
from hybridge.settings import parse as parse_settings
from hybridge.testing.weights import tiny_gguf
from hybridge.wiring import House, model_library, open_house

pytestmark = pytest.mark.anyio


def settings_in(folder: Path, engine: str = "ortgenai") -> Settings:
    row = {"name": "local", "engine": engine, "model": "m", "context_tokens": 512, "queue": 64}
    models = {"dir": str(folder / "models"), "poll_s": 0.5}
    data = {"edge": {"backends": [row]}, "records": {"url": None}, "models": models}
    return parse_settings(data, {})


def another(folder: Path) -> Path:
    """The same weights, and so another version only by its configuration."""
    made = shutil.copytree(TINY, folder / "another")
    path = made / "genai_config.json"
    config = json.loads(path.read_text())
    config["search"]["top_k"] += 1
    path.write_text(json.dumps(config))
    return made


async def ask(house: House) -> tuple[str, str]:
    """The version that answers, and what it says."""
    asked = request("local", "Say hi.")
    asked = replace(asked, body={**asked.body, "temperature": 0})
    async with house.gateway.serve(asked) as reply:
        (event,) = [event async for event in reply.events]
    return parse(event.wire)["system_fingerprint"], event.text or ""


@pytest.fixture
async def serving(tmp_path: Path) -> AsyncIterator[tuple[House, Versions, list[ModelSwitched]]]:
    """A gateway with a folder as its model's first version, the store, and what was switched."""
    settings, switched = settings_in(tmp_path), list[ModelSwitched]()
    store = model_library(settings).store
    store.activate("m", store.push("m", TINY).version)
    async with open_house(settings) as house:
        house._lasting.events.subscribe(
            lambda event: switched.append(event) if isinstance(event, ModelSwitched) else None
        )
        await house.loaded()
        yield house, store, switched


async def test_folders_are_exchanged_and_taken_back_while_others_answer(serving, tmp_path) -> None:
    house, store, switched = serving
    first, second = (await ask(house))[0], store.push("m", another(tmp_path)).version
    answers: list[tuple[str, str]] = []

    async def steadily() -> None:
        while True:
            answers.append(await ask(house))

    load = asyncio.create_task(steadily())
    for change, active in ((store.activate, second), (store.roll_back, first)):
        change("m")
        await until(lambda active=active: switched and switched[-1].version == active)
        await until(lambda active=active: answers and answers[-1][0] == active)
    assert not load.done()  # no request has failed
    load.cancel()
    assert {version for version, _ in answers} == {first, second}
    assert {said for _, said in answers} == {"Hi there, my friend!"}


async def test_files_of_another_engine_are_refused_and_the_folder_stays(serving, tmp_path) -> None:
    house, store, switched = serving
    first = (await ask(house))[0]
    store.activate("m", store.push("m", tiny_gguf(tmp_path / "w.gguf", 1)).version)
    await until(lambda: store.pointer("m").active == first)
    assert switched[-1].outcome == "refused"
    assert "m is a GGUF model" in switched[-1].reason
    assert "set `engine: llamacpp` for backend local" in switched[-1].reason
    assert (await ask(house))[0] == first


async def test_the_default_engine_says_which_one_runs_a_folder(tmp_path) -> None:
    settings = settings_in(tmp_path, "llamacpp")
    store = model_library(settings).store
    store.activate("m", store.push("m", TINY).version)
    async with open_house(settings) as house:
        with pytest.raises(ModelError, match="set `engine: ortgenai` for backend local"):
            await house.loaded()

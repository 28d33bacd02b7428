"""Which engines are timed against each other, and what is said of one that is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.unit.edge.genai_model import TINY

from hybridge.core.errors import ModelError
from hybridge.edge import genai_folder
from hybridge.settings import Settings, parse
from hybridge.testing.weights import tiny_gguf
from hybridge.wiring import contest_of, model_library
from hybridge.wiring.contest import Contest, Subject, subject


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return parse({"models": {"dir": str(tmp_path / "models")}}, {})


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    return tiny_gguf(tmp_path / "a.gguf", 1)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    return shutil.copytree(TINY, tmp_path / "a-int4")


def found(model: str | Path, settings: Settings) -> Subject:
    return subject(str(model), settings, lambda _done, _total: None)


def engines(of: Contest) -> set[tuple[str, str]]:
    return {(one.engine, one.model) for one in of.contestants}


def test_a_folder_that_was_exported_of_a_file_is_timed_beside_it(settings, gguf, exported) -> None:
    told = contest_of(found(gguf, settings))
    assert engines(told) == {("llamacpp", str(gguf)), ("ortgenai", str(exported))}
    assert told.absent is None
    threads = [one.threads for one in told.contestants if one.engine == "llamacpp"]
    assert threads == [one.threads for one in told.contestants if one.engine == "ortgenai"]


def test_any_folder_can_be_named(settings, gguf, tmp_path) -> None:
    folder = shutil.copytree(TINY, tmp_path / "elsewhere")
    told = contest_of(found(gguf, settings), folder)
    assert engines(told) == {("llamacpp", str(gguf)), ("ortgenai", str(folder))}
    with pytest.raises(ModelError, match="genai_config.json cannot be read"):
        contest_of(found(gguf, settings), tmp_path)


def test_without_a_folder_it_is_said_how_one_is_made(settings, gguf, tmp_path) -> None:
    told = contest_of(found(gguf, settings))
    assert engines(told) == {("llamacpp", str(gguf))}
    command = f"hybridge models export {gguf} --engine ortgenai --precision int4 --out"
    assert f"{command} {tmp_path / 'a-int4'}" in (told.absent or "")


def test_without_the_library_its_extra_is_named(settings, gguf, exported, monkeypatch) -> None:
    monkeypatch.setattr(genai_folder, "_LIBRARIES", ("no_such_library",))
    told = contest_of(found(gguf, settings))
    assert engines(told) == {("llamacpp", str(gguf))}
    assert 'pip install "hybridge[ortgenai]"' in (told.absent or "")
    with pytest.raises(ModelError, match=r'pip install "hybridge\[ortgenai\]"'):
        contest_of(found(exported, settings))  # nothing else could run it


def test_a_folder_alone_is_timed_alone(settings, exported) -> None:
    told = contest_of(found(exported, settings))
    assert (engines(told), told.absent) == ({("ortgenai", str(exported))}, None)


def test_names_are_looked_up_in_the_store(settings, gguf, exported, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    store = model_library(settings).store
    for source, engine in ((gguf, "llamacpp"), (exported, "ortgenai")):
        store.activate("m", store.push("m", source).version)
        found_m = found("m", settings)
        assert found_m.is_llm
        assert engines(contest_of(found_m)) == {(engine, "m")}
    shutil.copytree(TINY, tmp_path / "m-int8")
    store.roll_back("m")
    assert engines(contest_of(found("m", settings))) == {("llamacpp", "m"), ("ortgenai", "m-int8")}


def test_what_writes_no_text_is_no_llm(settings, tmp_path) -> None:
    (tmp_path / "encoder.onnx").write_bytes(b"")
    assert not found(tmp_path, settings).is_llm
    with pytest.raises(ModelError, match="there is no model 'nobody'"):
        found("nobody", settings)

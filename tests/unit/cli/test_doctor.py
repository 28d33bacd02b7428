"""`hybridge doctor`: what it says of local models."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.unit.edge.genai_model import TINY
from typer.testing import CliRunner

from hybridge.cli.app import app
from hybridge.edge import genai_folder
from hybridge.settings import load
from hybridge.wiring import model_library


@pytest.fixture
def diagnosed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What is said of the backend `local`, which runs the model in engine `ortgenai`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYBRIDGE_MODELS", str(tmp_path / "models"))

    def ran(model: str) -> tuple[str, str]:
        row = f"{{name: local, engine: ortgenai, model: {model}, context_tokens: 512}}"
        Path("hybridge.yaml").write_text(f"edge: {{backends: [{row}]}}\nserver: {{port: 0}}\n")
        result = CliRunner().invoke(app, ["doctor", "--json"])
        (found,) = [one for one in json.loads(result.stdout) if one["what"] == "backend local"]
        assert result.exit_code == (1 if found["verdict"] == "fail" else 0)
        return found["verdict"], found["said"]

    return ran


def test_a_folder_is_loaded_and_asked(diagnosed, tmp_path: Path) -> None:
    shutil.copytree(TINY, "mine")
    verdict, said = diagnosed("mine")
    assert verdict == "ok"
    assert said.startswith(f"{tmp_path / 'mine'} loaded and answered in ")


def test_so_is_the_version_in_force(diagnosed) -> None:
    Path("hybridge.yaml").write_text("{}")
    store = model_library(load(Path("hybridge.yaml"))).store
    version = store.push("m", TINY).version
    verdict, said = diagnosed("m")
    assert verdict == "fail"
    assert "no version of m is active" in said
    store.activate("m", version)
    assert diagnosed("m")[0] == "ok"


@pytest.mark.parametrize("missing", ["genai_config.json", "model.onnx", "tokenizer.json"])
def test_a_file_that_is_missing_is_named(diagnosed, tmp_path: Path, missing: str) -> None:
    shutil.copytree(TINY, "mine")
    Path("mine", missing).unlink()
    verdict, said = diagnosed("mine")
    assert verdict == "fail"
    assert str(tmp_path / "mine" / missing) in said


def test_weights_that_cannot_be_loaded_fail(diagnosed) -> None:
    shutil.copytree(TINY, "mine")
    Path("mine/model.onnx.data").unlink()
    verdict, said = diagnosed("mine")
    assert verdict == "fail"
    assert "cannot be loaded" in said
    assert "model.onnx.data" in said


def test_a_folder_that_is_missing_tells_how_one_is_made(diagnosed) -> None:
    verdict, said = diagnosed("./nowhere")
    assert verdict == "fail"
    assert "nowhere/genai_config.json cannot be read" in said
    assert "hybridge models export" in said


def test_the_library_that_is_missing_is_named_with_its_extra(diagnosed, monkeypatch) -> None:
    shutil.copytree(TINY, "mine")
    monkeypatch.setattr(genai_folder, "_LIBRARIES", ("no_such_library",))
    verdict, said = diagnosed("mine")
    assert verdict == "fail"
    assert "no_such_library" in said
    assert 'pip install "hybridge[ortgenai]"' in said

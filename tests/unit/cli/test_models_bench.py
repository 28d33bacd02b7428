"""`hybridge models bench`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests.unit.edge.onnx_graphs import table_graph
from typer.testing import CliRunner

from hybridge.cli.app import app
from hybridge.edge.encoder import SCORER
from hybridge.edge.scorer_config import ScorerConfig


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "encoder.onnx").write_bytes(table_graph(30522, 4))
    shutil.copy(SCORER / "tokenizer.json", tmp_path)
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(app, ["models", "bench", "--seconds", "1", *arguments])


def test_a_table_and_settings_to_paste(folder: Path) -> None:
    result = run(str(folder))
    assert result.exit_code == 0, result.output
    assert "encoder.onnx" in result.stdout
    pasted = yaml.safe_load(result.stdout[result.stdout.index("scorer:") :])
    ScorerConfig.model_validate(pasted["scorer"])


def test_json_for_programs(folder: Path) -> None:
    result = run(str(folder), "--json")
    found = json.loads(result.stdout)
    assert found["best"] in found["rows"]
    assert set(found["rows"][0]["p99_ms"]) == {"16", "64", "128"}
    assert yaml.safe_load(found["proposal"])["scorer"]["threads"] >= 1


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    result = run(str(tmp_path))
    assert result.exit_code != 0

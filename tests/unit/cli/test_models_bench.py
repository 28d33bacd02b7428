"""`hybridge models bench`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests.unit.edge.genai_model import TINY
from tests.unit.edge.onnx_graphs import table_graph
from typer.testing import CliRunner

from hybridge.cli.app import app
from hybridge.edge.config import EdgeConfig
from hybridge.edge.encoder import SCORER
from hybridge.edge.scorer_config import ScorerConfig
from hybridge.testing.weights import tiny_gguf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "encoder.onnx").write_bytes(table_graph(30522, 4))
    shutil.copy(SCORER / "tokenizer.json", tmp_path)
    return tmp_path


@pytest.fixture
def gguf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Weights beside which there is no other folder; timed on one core."""
    monkeypatch.setattr("hybridge.wiring.contest.cores", lambda: 1)
    return str(tiny_gguf(tmp_path / "a.gguf", 1))


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


def test_engines_are_timed_and_the_fastest_is_proposed(gguf: str, tmp_path: Path) -> None:
    folder = shutil.copytree(TINY, tmp_path / "a-int8")
    result = run(gguf)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line for line in lines if "llamacpp" in line and "a.gguf" in line]
    assert [line for line in lines if "ortgenai" in line and "a-int8" in line]
    (verdict,) = [line for line in lines if line.startswith("fastest:")]
    best = verdict.split()[1]
    assert "times as long" in verdict
    (row,) = pasted(result.stdout).backends
    assert row.engine == best
    assert row.model == {"llamacpp": gguf, "ortgenai": str(folder)}[best]
    assert row.threads == 1


def test_the_way_to_the_other_engine_is_told(gguf: str) -> None:
    result = run(gguf)
    assert result.exit_code == 0, result.output
    told, _, way = result.stdout.partition("ortgenai was not timed: ")
    assert pasted(told).backends[0].engine == "llamacpp"
    assert f"hybridge models export {gguf} --engine ortgenai" in way
    assert 'pip install "hybridge[export-genai,ortgenai]"' in way


def test_engines_as_json(gguf: str) -> None:
    found = json.loads(run(gguf, "--genai", str(TINY), "--json").stdout)
    assert {row["engine"] for row in found["rows"]} == {"llamacpp", "ortgenai"}
    assert found["best"] in found["rows"]
    assert found["absent"] is None
    assert all(row["memory_bytes"] is not None for row in found["rows"])


def test_a_folder_for_the_other_engine_goes_with_a_gguf_model(folder: Path) -> None:
    result = run(str(folder), "--genai", str(TINY))
    assert result.exit_code == 2
    assert "belongs to a .gguf model" in result.output


def pasted(printed: str) -> EdgeConfig:
    """The proposal, as `hybridge.yaml` would be read."""
    return EdgeConfig.model_validate(yaml.safe_load(printed[printed.index("edge:") :])["edge"])

"""`hybridge models export` and `quantize`: what they print, and how they end."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.unit.pipeline.tiny_models import SPOILT, folder, labelled
from typer.testing import CliRunner, Result

from hybridge.cli.app import app
from hybridge.cli.models.extra import need
from hybridge.core.errors import ConfigError, ModelError

LLAMA = """#!/bin/sh
# Speaks as llama.cpp's own program does.
echo "version: 0.6.0-dev"
echo "llama_quantize: quantizing '$1' to '$2' as $3"
case "$*" in
  *--allow-requantize*) shift ;;
  *) printf "[   1/   2] token_embd.weight - [ 64, 32], type = q4_1, "
     echo "llama_model_quantize: failed to quantize: requantizing from type q4_1 is disabled"
     exit 1 ;;
esac
echo "[   1/   2] token_embd.weight - [ 64, 32], type = q4_1"
echo "[   2/   2] output.weight - [ 64, 32], type = q4_1"
echo "llama_model_quantize_impl: WARNING: 1 of 2 tensor(s) required fallback quantization"
printf 'GGUF %s' "$3" > "$2"
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs the command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["hybridge", "models", *arguments])
        return CliRunner().invoke(app, ["models", *arguments])

    return ran


@pytest.fixture
def llama(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for `llama-quantize`, and a GGUF file."""
    tool = tmp_path / "bin" / "llama-quantize"
    tool.parent.mkdir()
    tool.write_text(LLAMA)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    (tmp_path / "a.gguf").write_bytes(b"GGUF weights and weights")


def test_a_table_and_a_folder(models, tmp_path: Path) -> None:
    folder(tmp_path / "fp32")
    labelled(tmp_path / "test.jsonl")
    result = models("quantize", "fp32", "--out", "int8", "--test", "test.jsonl")
    assert result.exit_code == 0
    assert "of FP32" in result.stdout
    assert "written to int8" in result.stdout
    assert "quantising (dynamic)" in result.stderr
    assert (tmp_path / "int8" / "model.onnx").exists()


def test_json_is_all_that_is_printed(models, tmp_path: Path) -> None:
    folder(tmp_path / "fp32")
    labelled(tmp_path / "test.jsonl")
    result = models("quantize", "fp32", "-o", "int8", "--test", "test.jsonl", "--json")
    told = json.loads(result.stdout)
    assert told["written"] is True
    assert told["ratio"] == pytest.approx(told["int8_bytes"] / told["fp32_bytes"], abs=1e-3)
    assert told["loss"] <= 1


def test_a_refusal_gives_the_command_that_works(models, tmp_path: Path) -> None:
    folder(tmp_path / "fp32", spoilt=True)
    labelled(tmp_path / "test.jsonl")
    asked = ("quantize", "fp32", "--out", "int8", "--test", "test.jsonl")
    result = models(*asked)
    assert result.exit_code == 1
    assert not (tmp_path / "int8").exists()
    assert f"{SPOILT}: cosine falls by" in result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("Without them:")]
    command = line.removeprefix("Without them: hybridge models ").split()
    assert command[-2:] == ["--exclude", SPOILT]
    assert models(*command).exit_code == 0
    assert (tmp_path / "int8" / "model.onnx").exists()


def test_the_fewest_are_found_on_request(models, tmp_path: Path) -> None:
    folder(tmp_path / "fp32", spoilt=True)
    labelled(tmp_path / "test.jsonl")
    result = models(
        "quantize", "fp32", "-o", "int8", "--test", "test.jsonl", "--exclude-worst", "auto"
    )
    assert result.exit_code == 0
    assert f"left in 32 bits: {SPOILT}" in result.stdout


@pytest.mark.parametrize("said", ["0", "-1", "some"])
def test_a_number_of_layers_is_one(models, tmp_path: Path, said: str) -> None:
    folder(tmp_path / "fp32")
    assert models("quantize", "fp32", "-o", "int8", "--exclude-worst", said).exit_code == 2


@pytest.mark.usefixtures("llama")
def test_a_gguf_file_goes_through_llama_cpps_own_program(models, tmp_path: Path) -> None:
    result = models("quantize", "a.gguf", "-o", "b.gguf", "--type", "Q8_0", "--requantize")
    assert result.exit_code == 0
    assert (tmp_path / "b.gguf").read_bytes() == b"GGUF Q8_0"
    assert "1 tensors got another type: their rows do not fit Q8_0" in result.stdout


@pytest.mark.usefixtures("llama")
def test_the_programs_reason_is_told_with_a_way_out(models, tmp_path: Path) -> None:
    result = models("quantize", "a.gguf", "-o", "b.gguf")
    assert isinstance(result.exception, ModelError)
    assert str(result.exception) == (
        "llama-quantize ended with 1: failed to quantize: requantizing from type q4_1 is disabled. "
        "Its weights are quantised already: start from F16, or add --requantize"
    )
    assert not (tmp_path / "b.gguf").exists()


def test_without_the_program_it_is_said_where_it_comes_from(
    models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF weights")
    monkeypatch.setenv("PATH", str(tmp_path))
    result = models("quantize", "a.gguf", "-o", "b.gguf")
    assert isinstance(result.exception, ConfigError)
    assert "no llama-quantize on the PATH" in str(result.exception)
    (tmp_path / "c.gguf").write_bytes(b"something else")
    assert "is no GGUF file" in str(models("quantize", "c.gguf", "-o", "b.gguf").exception)


def test_a_missing_extra_is_one_line_that_names_it() -> None:
    with pytest.raises(ConfigError) as raised:
        need("json", "no_such_package_here")
    assert str(raised.value) == (
        'needs an extra (no_such_package_here): pip install "hybridge[export]"'
    )


def test_a_language_model_is_exported_for_its_own_engine(models, tmp_path: Path) -> None:
    result = models("export", "nowhere.gguf", "--out", "x", "--engine", "ortgenai")
    assert isinstance(result.exception, ModelError)
    assert "nowhere.gguf is not there" in str(result.exception)

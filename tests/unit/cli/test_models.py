"""`hybridge models`: push, activate, rollback, verify, list, pull."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.unit.edge.genai_model import TINY
from typer.testing import CliRunner, Result

from hybridge.cli.app import app
from hybridge.core.errors import ConfigError, ModelError
from hybridge.settings import parse


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYBRIDGE_MODELS", str(tmp_path / "models"))

    def ran(*arguments: str, fails: bool = False) -> Result:
        result = CliRunner().invoke(app, ["models", *arguments])
        assert isinstance(result.exception, ModelError) == fails, result.output
        return result

    return ran


@pytest.fixture
def pushed(run, tmp_path):
    """Two versions of `m`, the first one active."""
    found = []
    for text in ("one", "two"):
        (tmp_path / "w.gguf").write_text(text)
        said = run("push", "m", "w.gguf", "--note", text, "--json")
        found.append(json.loads(said.stdout)["version"])
    run("activate", "m", found[0])
    return found


def test_a_folder_that_no_engine_could_load_is_not_pushed(run, tmp_path):
    folder = shutil.copytree(TINY, tmp_path / "mine")
    told = json.loads(run("push", "m", "mine", "--json").stdout)
    assert told["kind"] == "genai"
    assert {file["path"] for file in told["files"]} == {file.name for file in TINY.iterdir()}
    (folder / "model.onnx").unlink()
    refused = run("push", "m", "mine", fails=True)
    assert str(refused.exception) == "mine/model.onnx is missing; export the model again"
    assert len(json.loads(run("list", "--json").stdout)[-1]["versions"]) == 1


def file_of(version: str) -> Path:
    return Path("models/store/m/versions") / version / "files/model.gguf"


def test_versions_are_pushed_activated_tried_and_taken_back(run, pushed):
    one, two = pushed
    assert run("activate", "m", "--canary", "0.1").stdout == (
        f"m: {one} is active, {two} gets 10% of the requests\n"
    )
    assert run("activate", "m", "--reason", "better").stdout == f"m: {two} is active\n"
    told = json.loads(run("rollback", "m", "--reason", "worse", "--json").stdout)
    assert (told["active"], told["last"]["what"], told["last"]["reason"]) == (
        one,
        "rolled back",
        "worse",
    )
    assert "nothing to roll back to" in str(run("rollback", "m", fails=True).exception)


def test_what_was_there_already_is_not_the_latest_and_it_is_said_so(run, pushed, tmp_path):
    one, two = pushed
    (tmp_path / "w.gguf").write_text("one")
    told = run("push", "m", "w.gguf").stdout
    assert f"it was there already, and {two} came later" in told
    command = f"hybridge models activate m {one}"
    assert command in told
    assert run(*command.split()[2:]).stdout == f"m: {one} is active\n"
    (tmp_path / "w.gguf").write_text("two")
    assert "already" not in run("push", "m", "w.gguf").stdout  # `activate` means this one anyway


def test_the_list_has_versions_states_and_the_last_step(run, pushed):
    one, two = pushed
    run("activate", "m", two, "--canary", "0.25")
    rows = {row["name"]: row for row in json.loads(run("list", "--json").stdout)}
    assert "licence" in rows["smollm2-135m"]
    states = {row["version"]: (row["state"], row["note"]) for row in rows["m"]["versions"]}
    assert states == {one: ("active", "one"), two: ("canary 25%", "two")}
    said = run("list").stdout
    assert one in said
    assert f"{two} on trial by the operator" in said


def test_what_is_not_as_it_was_pushed_is_told_and_not_activated(run, pushed):
    two = pushed[1]
    assert run("verify", "m").exit_code == 0
    file_of(two).write_text("2wo")
    result = run("verify")
    assert result.exit_code == 1
    assert f"{file_of(two)} should have SHA-256" in result.stdout
    problems = {
        row["version"]: row["problems"] for row in json.loads(run("verify", "--json").stdout)
    }
    assert [bool(problems[version]) for version in pushed] == [False, True]
    assert "SHA-256" in str(run("activate", "m", two, fails=True).exception)
    assert "nothing of other" in str(run("verify", "other", fails=True).exception)


def test_pulling_gives_the_folder_of_a_version(run, pushed):
    one, two = pushed
    assert run("pull", "m").stdout.strip().endswith(f"m/versions/{one}/files")
    assert run("pull", f"m@{two}").stdout.strip().endswith(f"m/versions/{two}/files")
    assert pushed[0] in str(run("pull", "m@feed", fails=True).exception)
    assert "no version of other" in str(run("pull", "other", fails=True).exception)


def test_measurements_are_kept(run, tmp_path):
    (tmp_path / "w.gguf").write_text("one")
    (tmp_path / "m.json").write_text('{"accuracy": 0.91}')
    said = run("push", "m", "w.gguf", "--metrics", "m.json", "--json")
    assert json.loads(said.stdout)["metrics"] == {"accuracy": 0.91}
    (tmp_path / "m.json").write_text("[")
    assert run("push", "m", "w.gguf", "--metrics", "m.json").exit_code == 2


@pytest.mark.parametrize(
    "arguments", [("activate", "m", "--canary", "2"), ("push", "m"), ("rollback",)]
)
def test_wrong_usage(run, arguments):
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ({"store": "gs://bucket"}, "s3://bucket"),
        ({"store": "s3://"}, "s3://bucket"),
        ({"s3": {"access_key_env": "A"}}, "set both"),
        (
            {"store": "s3://models", "s3": {"access_key_env": "A", "secret_key_env": "B"}},
            "variable B",
        ),
    ],
)
def test_a_store_that_cannot_be_is_refused(models, said):
    with pytest.raises(ConfigError, match=said):
        parse({"models": models}, {"A": "key"})

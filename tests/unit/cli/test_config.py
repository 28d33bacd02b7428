"""`hybridge config`: check, show, schema, import-litellm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from hybridge.cli.app import app

GOOD = "edge: {backends: []}\ncloud: {backends: [{name: c, model: gpt-4o, api_key_env: C_KEY}]}\n"
CIRCLE = GOOD + "routing: {fallbacks: {c: [c]}}\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("C_KEY", "sk-cloud-0123456789")

    def ran(*arguments: str, text: str | None = None) -> Result:
        if text is not None:
            Path("hybridge.yaml").write_text(text)
        return CliRunner().invoke(app, ["config", *arguments])

    return ran


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        (GOOD, (), 0),
        (GOOD, ("--strict",), 0),
        (CIRCLE, (), 0),
        (CIRCLE, ("--strict",), 1),
        ("sevrer: {}\n", (), 2),
        ("server: {port: 1\n", ("--strict",), 2),
        ("routing: {rules: nowhere.json}\n", (), 2),
    ],
)
def test_the_exit_code_says_whether_it_can_be_used(run, text, arguments, code):
    assert run("check", *arguments, text=text).exit_code == code


def test_a_check_names_file_line_and_key(run):
    said = run("check", text=CIRCLE)
    assert "warning: hybridge.yaml:3:23: routing.fallbacks.c: c -> c is a circle" in said.stderr
    assert said.stdout == "hybridge.yaml: 0 errors, 1 warning\n"
    said = run("check", text="server: {prot: 1}\n")
    assert said.stderr.startswith("hybridge.yaml:1:10: server.prot: unknown key")


def test_a_check_for_programs(run):
    said = json.loads(run("check", "--json", text=CIRCLE).stdout)
    assert (said["ok"], said["path"], said["errors"]) == (True, "hybridge.yaml", [])
    (warning,) = said["warnings"]
    assert (warning["place"], warning["key"]) == ("hybridge.yaml:3:23", "routing.fallbacks.c")
    said = json.loads(run("check", "--json", text="cloud: {backends: [{name: a}]}\n").stdout)
    assert said["errors"] == [
        {"place": "hybridge.yaml:1:20", "key": "cloud.backends[0].model", "message": "is missing"}
    ]


def test_without_a_file_the_defaults_are_checked(run):
    said = run("check")
    assert (said.exit_code, said.stdout) == (0, "the defaults: 0 errors, 0 warnings\n")


def test_what_is_shown_is_the_same_configuration_again(run):
    said = run("show", text=GOOD)
    assert "model: gpt-4o" in said.stdout
    assert "# hybridge.yaml:2, set" in said.stdout
    assert "sk-cloud" not in said.stdout
    again = yaml.safe_load(said.stdout)
    assert again["cloud"]["backends"][0]["api_key_env"] == "C_KEY"
    assert run("check", text=said.stdout).exit_code == 0


def test_what_is_shown_for_programs(run):
    rows = {row["key"]: row for row in json.loads(run("show", "--json", text=GOOD).stdout)}
    assert rows["cloud.backends[0].api_key_env"] == {
        "key": "cloud.backends[0].api_key_env",
        "value": "C_KEY",
        "source": "hybridge.yaml:2",
        "secret": "set",
    }
    assert rows["server.port"]["source"] == "default"


def test_the_schema_is_json(run):
    schema = json.loads(run("schema").stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "server" in schema["properties"]


def test_an_import_is_written_and_told_of(run):
    Path("litellm.yaml").write_text(
        "model_list: [{model_name: m, litellm_params: {model: openai/gpt-4o, rpm: 3}}]\n"
    )
    said = run("import-litellm", "litellm.yaml")
    assert yaml.safe_load(said.stdout)["cloud"]["backends"][0]["name"] == "m"
    assert "litellm.yaml: line 1: model_list[0].litellm_params.rpm: " in said.stderr
    assert run("import-litellm", "litellm.yaml", "-o", "hybridge.yaml").exit_code == 0
    assert run("check").exit_code == 0

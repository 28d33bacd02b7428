"""Sections `alerts` and `telemetry`: where their secrets come from, and what is refused."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from hybridge.core.errors import ConfigError
from hybridge.settings import checks, parse
from hybridge.settings.changes import changes
from hybridge.settings.shown import shown
from hybridge.telemetry.alerts.alert import Alert, Name, State
from hybridge.telemetry.alerts.shapes import SHAPES

ROOT = Path(__file__).parents[3]
NOW = datetime(2030, 1, 1, 8, 0, 5, tzinfo=UTC)

URL = "https://hooks.slack.com/services/T000/B000/verysecret"


def webhook(environ: dict[str, str] | None = None, **row):
    return parse({"alerts": {"webhooks": [{"name": "ops", **row}]}}, environ or {})


def test_addresses_and_secrets_lie_in_the_environment():
    settings = webhook(
        {"HOOK": URL, "SECRET": "SECret-value"}, url_env="HOOK", shape="feishu", secret_env="SECRET"
    )
    assert settings.secrets.webhooks == {"ops": URL}
    assert settings.secrets.signing == {"ops": "SECret-value"}
    assert {URL, "SECret-value", "services/T000/B000/verysecret"} <= settings.secrets.values
    assert "verysecret" not in f"{settings!r} {shown(settings)}"


def test_an_address_in_the_file_is_not_shown_either():
    settings = webhook(url=URL)
    assert settings.secrets.webhooks == {"ops": URL}
    (row,) = shown(settings)["alerts"]["webhooks"]
    assert row["url"] == "https://hooks.slack.com/[redacted]"
    other = webhook(url=URL + "2")
    assert changes(settings, other) == ("alerts.webhooks[ops].url changed",)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({}, "needs either url_env, the name of a variable, or url"),
        ({"url": URL, "url_env": "HOOK"}, "needs either url_env"),
        ({"url": "hooks.slack.com/services"}, "must be an address such as https://host/path"),
        ({"url_env": "HOOK"}, "environment variable HOOK is not set; webhook `ops` needs it"),
        ({"url_env": "BAD"}, "environment variable BAD must be an address"),
        ({"url": URL, "secret_env": "S", "shape": "slack"}, "shape `slack` knows no signature"),
        ({"url": URL, "secret_env": "S"}, "environment variable S is not set"),
        ({"url": URL, "shape": "teams"}, "alerts.webhooks[0].shape"),
    ],
)
def test_what_cannot_work_is_refused(row, why):
    with pytest.raises(ConfigError) as refused:
        webhook({"BAD": "nowhere-secret"}, **row)
    assert why in str(refused.value)
    assert "verysecret" not in str(refused.value)
    assert "nowhere-secret" not in str(refused.value)


def test_two_webhooks_have_two_names():
    rows = [{"name": "ops", "url": URL}, {"name": "ops", "url": URL}]
    with pytest.raises(ConfigError, match=r"alerts.webhooks\[1\].name: `ops` is taken already"):
        parse({"alerts": {"webhooks": rows}}, {})


def test_headers_for_the_collector():
    section = {"otlp_endpoint": "http://c:4318", "otlp_headers_env": "H"}
    settings = parse({"telemetry": section}, {"H": "Authorization=Bearer%20abc%3D, x-team = a "})
    assert settings.secrets.otlp_headers == {"authorization": "Bearer abc=", "x-team": "a"}
    assert "Bearer abc=" in settings.secrets.values


@pytest.mark.parametrize("value", ["no pair", "=value", "a=1,b"])
def test_headers_that_are_none(value):
    section = {"otlp_endpoint": "http://c:4318", "otlp_headers_env": "H"}
    with pytest.raises(ConfigError, match="environment variable H must read name=value"):
        parse({"telemetry": section}, {"H": value})


def test_an_absent_extra_is_named(monkeypatch):
    monkeypatch.setattr(checks, "OTEL", ("opentelemetry_that_is.not_there",))
    with pytest.raises(ConfigError, match=r'needs an extra: pip install "hybridge\[otel\]"'):
        parse({"telemetry": {"otlp_endpoint": "http://127.0.0.1:4318"}}, {})
    assert parse({"telemetry": {"sample": 0.5}}, {}).telemetry.sample == 0.5


def test_the_guides_examples():
    page = (ROOT / "docs/how-to/alerts.md").read_text(encoding="utf-8")
    environ = {
        "SLACK_WEBHOOK": URL,
        "DINGTALK_WEBHOOK": URL,
        "DINGTALK_SECRET": "SEC",
        "OTLP_HEADERS": "a=b",
    }
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    ours = [data for data in map(yaml.safe_load, blocks) if "rule_files" not in data]
    assert [list(parse(data, environ).model_fields_set & data.keys()) for data in ours] == [
        ["alerts"],
        ["telemetry"],
    ]
    (sample,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    alert = Alert(Name.BACKEND_UNAVAILABLE, State.FIRING, "local", None, None, NOW, NOW)
    assert json.loads(sample) == json.loads(SHAPES["json"](alert, "hybridge", None, NOW).body)
    assert {row.value for row in Name} <= set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))

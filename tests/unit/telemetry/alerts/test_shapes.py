"""Every shape against its vendor's documented format."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import b64encode
from urllib.parse import parse_qs

import msgspec
import pytest
from tests.unit.telemetry.alerts.samples import FIRING, NOW, RESOLVED

from hybridge.telemetry.alerts.alert import Alert, Name, State
from hybridge.telemetry.alerts.config import SIGNING
from hybridge.telemetry.alerts.shapes import SHAPES, refusal
from hybridge.telemetry.outbound import Answer

TEXT = (
    "Hybridge alert [FIRING] home: backend local <1> & co is unavailable; the gateway's log says "
    "why (backend_unavailable, 2030-01-01 08:00:05+00:00)"
)


def body(shape: str, alert: Alert = FIRING, secret: str | None = None) -> dict:
    return json.loads(SHAPES[shape](alert, "home", secret, NOW).body)


def test_our_own_has_every_field():
    assert body("json", RESOLVED) == {
        "version": 1,
        "service": "home",
        "alert": "latency",
        "state": "resolved",
        "subject": "edge",
        "value": 120.5,
        "limit": 180.0,
        "at": "2030-01-01T08:00:05+00:00",
        "since": "2030-01-01T08:00:05+00:00",
        "summary": "mean latency of the edge tier is usual again",
    }


def test_slack_takes_text_with_its_markup_escaped():
    assert body("slack") == {
        "text": TEXT.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    }


def test_dingtalk_and_wecom_take_a_text_message():
    assert body("dingtalk") == body("wecom") == {"msgtype": "text", "text": {"content": TEXT}}


def test_feishu_takes_a_text_message():
    assert body("feishu") == {"msg_type": "text", "content": {"text": TEXT}}


def test_dingtalk_is_signed_in_the_address():
    message = SHAPES["dingtalk"](FIRING, "home", "SECret", NOW)
    query = parse_qs(message.query, strict_parsing=True)
    stamp = str(int(NOW.timestamp() * 1000))
    signed = hmac.new(b"SECret", f"{stamp}\nSECret".encode(), hashlib.sha256).digest()
    assert query == {"timestamp": [stamp], "sign": [b64encode(signed).decode()]}
    assert b"sign" not in message.body


def test_feishu_is_signed_in_the_body():
    said = body("feishu", secret="SECret")
    stamp = str(int(NOW.timestamp()))
    signed = hmac.new(f"{stamp}\nSECret".encode(), digestmod=hashlib.sha256).digest()
    assert (said["timestamp"], said["sign"]) == (stamp, b64encode(signed).decode())
    assert said["msg_type"] == "text"


def test_our_own_is_signed_in_a_header():
    message = SHAPES["json"](FIRING, "home", "any", NOW)
    digest = hmac.new(b"any", message.body, hashlib.sha256).hexdigest()
    assert message.headers["x-hybridge-signature"] == f"sha256={digest}"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_secret_is_never_sent(shape):
    message = SHAPES[shape](FIRING, "home", "SECret", NOW)
    assert "SECret" not in f"{message.body!r} {message.query} {dict(message.headers)}"
    assert (shape in SIGNING) == (message != SHAPES[shape](FIRING, "home", None, NOW))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", Name)
@pytest.mark.parametrize("state", State)
def test_every_alert_can_be_told(shape, name, state):
    alert = Alert(name, state, "x" * 64, 1234.5678, 0.333333333, NOW, NOW)
    message = SHAPES[shape](alert, "hybridge", "secret", NOW)
    assert msgspec.json.decode(message.body)
    assert len(message.body) < 2048  # WeCom's limit of a text


@pytest.mark.parametrize(
    ("shape", "answer", "reason", "again"),
    [
        ("slack", Answer(200, b"ok"), None, None),
        ("json", Answer(204), None, None),
        ("dingtalk", Answer(200, b'{"errcode":0,"errmsg":"ok"}'), None, None),
        ("feishu", Answer(200, b'{"StatusCode":0,"code":0,"msg":"success"}'), None, None),
        ("json", Answer(200, b'{"errcode":1,"code":1}'), None, None),
        ("feishu", Answer(200, b"no json"), None, None),
        ("dingtalk", Answer(200, b'{"errcode":310000,"errmsg":"sign"}'), "code 310000", False),
        ("dingtalk", Answer(200, b'{"errcode":-1,"errmsg":"busy"}'), "code -1", True),
        ("feishu", Answer(200, b'{"code":19021,"msg":"sign"}'), "code 19021", False),
        ("feishu", Answer(200, b'{"code":11232,"msg":"limited"}'), "code 11232", True),
        ("wecom", Answer(200, b'{"errcode":93000,"errmsg":"no"}'), "code 93000", False),
        ("wecom", Answer(200, b'{"errcode":45009,"errmsg":"no"}'), "code 45009", True),
        ("slack", Answer(404, b"no_service"), "status 404", False),
        ("slack", Answer(302), "status 302", False),
        ("slack", Answer(429), "status 429", True),
        ("json", Answer(500, b"secret words"), "status 500", True),
    ],
)
def test_what_a_receiver_says_of_it(shape, answer, reason, again):
    found = refusal(shape, answer)
    assert ((None, None) if found is None else (found.reason, found.again)) == (reason, again)

"""An alert in the JSON that each kind of receiver takes, signed where it can be.

Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
DingTalk: https://open.dingtalk.com/document/orgapp/custom-robot-access
Feishu: https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot
WeCom: https://developer.work.weixin.qq.com/document/path/91770
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from hybridge.telemetry.alerts.alert import Alert, State
from hybridge.telemetry.alerts.config import ShapeName
from hybridge.telemetry.outbound import AGAIN, Answer

TITLE = "Hybridge alert"
"""How every text begins: robots of DingTalk can be told to take nothing without a certain word."""
_JSON = MappingProxyType({"content-type": "application/json; charset=utf-8"})
_OURS = 1
"""Version of our own JSON."""


class Message(Struct, frozen=True):
    """What to post."""

    body: bytes
    query: str = ""
    """To be added to the address."""
    headers: Mapping[str, str] = _JSON


Shape = Callable[[Alert, str, str | None, datetime], Message]
"""From an alert, this gateway's name, the secret to sign with, and the time of now."""


def ours(alert: Alert, service: str, secret: str | None, _now: datetime) -> Message:
    """All fields. Signed as `x-hybridge-signature: sha256=` and the HMAC of the body, in hex."""
    body = _encode({"version": _OURS, "service": service, **_fields(alert)})
    if secret is None:
        return Message(body)
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return Message(body, headers={**_JSON, "x-hybridge-signature": f"sha256={digest}"})


def slack(alert: Alert, service: str, _secret: str | None, _now: datetime) -> Message:
    """`&`, `<` and `>` are Slack's own markup."""
    text = _text(alert, service).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Message(_encode({"text": text}))


def dingtalk(alert: Alert, service: str, secret: str | None, now: datetime) -> Message:
    """The signature goes into the address; its time is in milliseconds."""
    body = _encode({"msgtype": "text", "text": {"content": _text(alert, service)}})
    if secret is None:
        return Message(body)
    stamp = str(int(now.timestamp() * 1000))
    signed = hmac.new(secret.encode(), f"{stamp}\n{secret}".encode(), hashlib.sha256).digest()
    query = urlencode({"timestamp": stamp, "sign": b64encode(signed).decode()})
    return Message(body, query=query)


def feishu(alert: Alert, service: str, secret: str | None, now: datetime) -> Message:
    """The signature goes into the body; its time is in seconds, its key the text to sign."""
    said: dict[str, Any] = {"msg_type": "text", "content": {"text": _text(alert, service)}}
    if secret is not None:
        stamp = str(int(now.timestamp()))
        signed = hmac.new(f"{stamp}\n{secret}".encode(), b"", hashlib.sha256).digest()
        said = {"timestamp": stamp, "sign": b64encode(signed).decode(), **said}
    return Message(_encode(said))


def wecom(alert: Alert, service: str, _secret: str | None, _now: datetime) -> Message:
    """Without a signature: the key in the address is all there is."""
    return Message(_encode({"msgtype": "text", "text": {"content": _text(alert, service)}}))


SHAPES: Mapping[ShapeName, Shape] = {
    "json": ours,
    "slack": slack,
    "dingtalk": dingtalk,
    "feishu": feishu,
    "wecom": wecom,
}

_CODES: Mapping[ShapeName, str] = {"dingtalk": "errcode", "feishu": "code", "wecom": "errcode"}
"""Where these say, with a status of 200, that they took nothing."""
_BUSY = frozenset({-1, 11232, 45009, 130101})
"""Codes that ask for patience: busy (DingTalk, WeCom), and too many messages (Feishu, WeCom,
DingTalk)."""


class Refusal(Struct, frozen=True):
    """Why a receiver took nothing."""

    reason: str
    again: bool
    """Whether the same may be sent once more."""


def refusal(shape: ShapeName, answer: Answer) -> Refusal | None:
    """None: it was taken. The receiver's own words are not repeated."""
    if not 200 <= answer.status < 300:
        return Refusal(f"status {answer.status}", answer.status in AGAIN)
    code = _code(shape, answer.body)
    return None if code == 0 else Refusal(f"code {code}", code in _BUSY)


def _code(shape: ShapeName, body: bytes) -> int:
    key = _CODES.get(shape)
    if key is None:
        return 0
    try:
        code = msgspec.json.decode(body, type=dict[str, Any]).get(key, 0)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return 0
    return code if isinstance(code, int) else 0


def _fields(alert: Alert) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "state": alert.state,
        "subject": alert.subject,
        "value": alert.value,
        "limit": alert.limit,
        "at": alert.at.isoformat(timespec="seconds"),
        "since": alert.since.isoformat(timespec="seconds"),
        "summary": alert.summary,
    }


def _text(alert: Alert, service: str) -> str:
    mark = "resolved" if alert.state is State.RESOLVED else "FIRING"
    when = alert.at.isoformat(sep=" ", timespec="seconds")
    return f"{TITLE} [{mark}] {service}: {alert.summary} ({alert.name}, {when})"


def _encode(value: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(value)

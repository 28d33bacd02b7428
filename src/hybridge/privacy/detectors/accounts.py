"""Accounts of people with messengers: 微信, QQ."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_ACCOUNT = re.compile(
    r"(?:微信号?|wechat|weixin|vx|v信)[ ：:是为]{0,3}([a-z][a-z0-9_\-]{5,19})"
    r"|qq号?[ ：:是为]{0,3}([1-9]\d{4,10})(?![0-9a-z])"
)
_NAMES = ("微信", "qq", "wechat", "weixin", "vx", "v信")
_LATIN_NAMES = ("qq", "wechat", "weixin", "vx")
_COMMON = re.compile(r"mini|pay|official|public|login|group|work|channel|android|account")
"""What follows the name of the product, and is no account."""


def detect(view: View) -> Iterator[Finding]:
    """Whatever follows the messenger's name and looks like an account there."""
    if not view.mentions(_LATIN_NAMES if view.ascii else _NAMES):
        return
    for match in view.matches(_ACCOUNT, "ACCOUNT", lower=True):
        if not _COMMON.match(match[match.lastindex or 0]):
            yield Finding("ACCOUNT", *match.span(match.lastindex or 0), Level.MEDIUM)

"""Accounts of people with messengers: 微信, QQ."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_ACCOUNT = re.compile(
    r"(?:微信|v信|(?<![a-z])(?:wechat|weixin|vx))(?P<said>号?(?: id)?(?: is |[ ：:是为]{0,3}))"
    r"([a-z][a-z0-9_\-]{5,19})"
    r"|(?<![a-z])qq号?[ ：:是为]{0,3}([1-9]\d{4,10})(?![0-9a-z])"
)
_SAID, _CODED = re.compile("[：:是为号]| i[ds]"), re.compile(r"[0-9_\-]")
"""That what follows is the account; or how an account looks, and a word seldom does."""
_NAMES = ("微信", "qq", "wechat", "weixin", "vx", "v信")
_LATIN_NAMES = ("qq", "wechat", "weixin", "vx")
_COMMON = re.compile(r"mini|pay|official|public|login|group|work|channel|android|account")
"""What follows the name of the product, and is no account."""


def detect(view: View) -> Iterator[Finding]:
    """Whatever follows the messenger's name and looks like an account there."""
    if not view.mentions(_LATIN_NAMES if view.ascii else _NAMES):
        return
    for match in view.matches(_ACCOUNT, "ACCOUNT", lower=True):
        account = match[match.lastindex or 0]
        said = match["said"] is None or _SAID.search(match["said"]) or _CODED.search(account)
        if said and not _COMMON.match(account):
            yield Finding("ACCOUNT", *match.span(match.lastindex or 0), Level.MEDIUM)

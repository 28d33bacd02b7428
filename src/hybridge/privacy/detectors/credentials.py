"""Keys, tokens, passwords: by the prefixes their issuers give them, or by the name before them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_ISSUED = re.compile(
    r"(?<![0-9A-Za-z])(?:sk-(?:proj-|ant-|or-|live-)?[A-Za-z0-9_\-]{20,}"  # OpenAI and its likes
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|LTAI[0-9A-Za-z]{16,24}|AKID[0-9A-Za-z]{24,40}"  # AWS, Ali, Tencent
    r"|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_\-]{20,}"
    r"|AIza[0-9A-Za-z_\-]{35}|xox[abeprs]-[A-Za-z0-9\-]{10,}|hf_[A-Za-z0-9]{30,}"
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_\-]{50,}"
    r"|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"  # JSON web token
    r"|SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"
    r"|-----BEGIN (?:[A-Z]+ ){0,3}PRIVATE KEY-----)"
)
_PREFIXES = (
    *("sk-", "akia", "asia", "ltai", "akid", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-"),
    *("github_pat_", "aiza", "xox", "hf_", "_live_", "_test_", "npm_", "pypi-", "eyj", "sg."),
    "-----begin",
)
_NAMED = re.compile(
    r"(?:api[_\- ]?key|secret|token|passw(?:or)?d|passwd|pwd|密码|口令)[\"']?"
    r"\s{0,4}(?:[:=：]|是|为)\s{0,4}[\"']?([^\s\"'`,;，；。<>{}$*]{8,128})",
    re.IGNORECASE,
)
_NAMES = ("key", "secret", "token", "pass", "pwd", "密码", "口令")
_PLACEHOLDER = re.compile(
    r"(?:your|my|xxx|test|example|placeholder|changeme|process\.|os\.|env|getenv|none|null|true"
    r"|false|string|str)",
    re.IGNORECASE,
)
_LEAST_ENTROPY = 2.6
"""Bits per character; words and dates stay below it."""


def detect(view: View) -> Iterator[Finding]:
    """Secrets, not references to them (`process.env.API_KEY`) nor placeholders."""
    if view.mentions(_PREFIXES):
        for match in _ISSUED.finditer(view.text):
            yield Finding("SECRET", *match.span(), Level.HIGH)
    if not view.mentions(_NAMES):
        return
    for match in _NAMED.finditer(view.text):
        if _secret(match[1]):
            yield Finding("SECRET", *match.span(1), Level.HIGH)


def _secret(value: str) -> bool:
    if _PLACEHOLDER.match(value) or "(" in value or not any(c.isdigit() for c in value):
        return False
    return _entropy(value) > _LEAST_ENTROPY


def _entropy(value: str) -> float:
    """Shannon's, of the value's own characters, in bits."""
    shares = [value.count(letter) / len(value) for letter in set(value)]
    return -sum(share * math.log2(share) for share in shares)

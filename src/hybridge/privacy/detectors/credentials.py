"""Keys, tokens, passwords: by the prefixes their issuers give them, or by the name before them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View, holds

_ALONE = "(?<![0-9A-Za-z].)"
_ISSUED = re.compile(
    rf"s{_ALONE}(?:k-(?:proj-|ant-|or-|live-)?[A-Za-z0-9_\-]{{20,}}"  # OpenAI and its likes
    r"|k_(?:live|test)_[A-Za-z0-9]{16,}|hp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})"  # Stripe, Shopify
    rf"|A{_ALONE}(?:(?:KIA|SIA)[0-9A-Z]{{16}}|KID[0-9A-Za-z]{{24,40}}"  # AWS, Tencent
    r"|Iza[0-9A-Za-z_\-]{35})"  # Google
    rf"|L{_ALONE}TAI[0-9A-Za-z]{{16,24}}"  # Alibaba
    rf"|g{_ALONE}(?:h[pousr]_[A-Za-z0-9]{{36,}}|ithub_pat_[A-Za-z0-9_]{{40,}}"
    r"|lpat-[A-Za-z0-9_\-]{20,}|sk_[A-Za-z0-9]{40,})"  # GitHub, GitLab, Groq
    rf"|n{_ALONE}(?:vapi-[A-Za-z0-9_\-]{{40,}}|pm_[A-Za-z0-9]{{36}})"
    rf"|x{_ALONE}(?:ai-[A-Za-z0-9]{{40,}}|ox[abeprs]-[A-Za-z0-9\-]{{10,}})"  # xAI, Slack
    rf"|h{_ALONE}f_[A-Za-z0-9]{{30,}}|r{_ALONE}k_(?:live|test)_[A-Za-z0-9]{{16,}}"
    rf"|p{_ALONE}(?:k_(?:live|test)_[A-Za-z0-9]{{16,}}|ypi-[A-Za-z0-9_\-]{{50,}})"
    rf"|y{_ALONE}a29\.[A-Za-z0-9_\-]{{30,}}|d{_ALONE}op_v1_[a-f0-9]{{64}}"  # Google, DigitalOcean
    r"|e(?<![0-9A-Za-z_\-].)yJ[A-Za-z0-9_\-]{10,}+\.[A-Za-z0-9_\-]{10,}+\.[A-Za-z0-9_\-]{10,}"
    rf"|S{_ALONE}G\.[A-Za-z0-9_\-]{{16,}}+\.[A-Za-z0-9_\-]{{16,}}"  # JSON web token; SendGrid
    r"|-----BEGIN (?:[A-Z]{1,20} ){0,3}PRIVATE KEY-----"
)
_HYPHENED = ("sk-", "xox", "glpat-", "nvapi-", "xai-", "pypi-", "-----BEGIN ")
_UNDERSCORED = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "gsk_", "hf_", "_live_", "_test_"),
    *("npm_", "dop_v1_", "shp"),
)
_PREFIXED = ("AKIA", "ASIA", "LTAI", "AKID", "AIza", "eyJ", "SG.", "ya29.")
_NAMED = re.compile(
    r"(?:api[_\- ]?key|secret|token|bearer|passw(?:or)?d|passwd|pwd|密码|口令)[\"']?"
    r"\s{0,4}(?:[:=：]|是|为|(?<=bearer) )\s{0,4}[\"']?([^\s\"'`,;，；。<>{}$*\x1f]{8,128})"
)
_LATIN_NAMES = ("key", "secret", "token", "pass", "pwd", "bearer")
_NAMES = (*_LATIN_NAMES, "密码", "口令")
_PLACEHOLDER = re.compile(
    r"(?:your|my|xxx|test|example|placeholder|changeme|process\.|os\.|env|getenv|none|null|true"
    r"|false|string|str)",
    re.IGNORECASE,
)
_LEAST_ENTROPY = 2.6
"""Bits per character; words and dates stay below it."""


def detect(view: View) -> Iterator[Finding]:
    """Secrets, not references to them (`process.env.API_KEY`) nor placeholders."""
    if _may_hold_issued(view.text):
        for match in view.matches(_ISSUED, "SECRET"):
            yield Finding("SECRET", *match.span(), Level.HIGH)
    if view.digits and view.mentions(_LATIN_NAMES if view.ascii else _NAMES):
        yield from _named(view)


def _may_hold_issued(text: str) -> bool:
    """Most of the prefixes are asked for only where their punctuation is."""
    return (
        holds(text, _PREFIXED)
        or ("-" in text and holds(text, _HYPHENED))
        or ("_" in text and holds(text, _UNDERSCORED))
    )


def _named(view: View) -> Iterator[Finding]:
    for match in view.matches(_NAMED, "SECRET", lower=True):
        if _secret(view.text[slice(*match.span(1))]):
            yield Finding("SECRET", *match.span(1), Level.HIGH)


def _secret(value: str) -> bool:
    if _PLACEHOLDER.match(value) or "(" in value or not any(c.isdigit() for c in value):
        return False
    return _entropy(value) > _LEAST_ENTROPY


def _entropy(value: str) -> float:
    """Shannon's, of the value's own characters, in bits."""
    shares = [value.count(letter) / len(value) for letter in set(value)]
    return -sum(share * math.log2(share) for share in shares)

"""IP addresses. A public one says little by itself; beside a login or a client it says who."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from itertools import islice

from hybridge.privacy import cues
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_V4 = re.compile(rf"[0-9](?<![0-9A-Za-z.].)\d{{0,2}}+(?:\.{_OCTET}){{3}}(?![0-9A-Za-z]|\.\d)")
_RESERVED = re.compile(
    r"(?:0|10|127|22[4-9]|2[3-5]\d|[3-9]\d\d|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])"
    r"|192\.0\.[02]|198\.1[89]|198\.51\.100|203\.0\.113|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\."
)
"""RFC 6890: private networks, loops, documentation, multicast; they belong to nobody."""
_WORD = "[0-9A-Fa-f]{1,4}"
_V6 = re.compile(
    r"[0-9A-Fa-f](?<![0-9A-Za-z:.].)[0-9A-Fa-f]{0,3}+:"
    rf"(?:(?:{_WORD}:){{6}}{_WORD}|(?:{_WORD}:){{0,6}}:(?:{_WORD}:){{0,6}}{_WORD})(?![0-9A-Za-z:])"
)
_KINDS = (
    (re.compile(r"\.[0-9]{1,3}\."), _V4),
    (re.compile(r":[0-9A-Fa-f]{0,4}:"), _V6),
)
"""Each kind after something cheap that every address of it holds."""
_LISTED = 128
"""Addresses looked at in one piece of text: a longer list is one of machines."""
_RESOLVERS = frozenset(
    {
        *("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "114.114.114.114", "223.5.5.5"),
        *("223.6.6.6", "119.29.29.29", "180.76.76.76", "208.67.222.222", "208.67.220.220"),
    }
)
"""Public name servers: everybody's, so nobody's."""


def detect(view: View) -> Iterator[Finding]:
    """Addresses that are routed on the internet; private and reserved ones belong to nobody."""
    for hint, pattern in _KINDS:
        if hint.search(view.text):
            yield from _routed(view, pattern)


def _routed(view: View, pattern: re.Pattern[str]) -> Iterator[Finding]:
    found = (match for match in pattern.finditer(view.text) if not _RESERVED.match(match.group()))
    for match in islice(found, _LISTED):
        if _public(match.group()):
            someones = view.near(cues.LOGIN, *match.span(), before=24, after=0)
            yield Finding("IP", *match.span(), Level.MEDIUM if someones else Level.LOW)


def _public(written: str) -> bool:
    try:
        return ipaddress.ip_address(written).is_global and written not in _RESOLVERS
    except ValueError:
        return False

"""IP addresses. A public one says little by itself; beside a login or a client it says who."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from hybridge.privacy import cues
from hybridge.privacy.finding import Finding, Level
from hybridge.privacy.view import View

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_V4 = re.compile(rf"(?<![0-9A-Za-z.])(?:{_OCTET}\.){{3}}{_OCTET}(?![0-9A-Za-z]|\.\d)")
_V6 = re.compile(
    r"(?<![0-9A-Za-z:.])(?:[0-9A-Fa-f]{1,4}:){2,7}(?::?[0-9A-Fa-f]{1,4}){1,6}(?![0-9A-Za-z:])"
)
_KINDS = (
    (re.compile(r"\.[0-9]{1,3}\."), _V4),
    (re.compile(r":[0-9A-Fa-f]{0,4}:"), _V6),
)
"""Each kind after something cheap that every address of it holds."""
_RESOLVERS = frozenset(
    {
        *("8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "114.114.114.114", "223.5.5.5"),
        *("223.6.6.6", "119.29.29.29", "180.76.76.76", "208.67.222.222", "208.67.220.220"),
    }
)
"""Public name servers: everybody's, so nobody's."""


def detect(view: View) -> Iterator[Finding]:
    """Addresses that are routed on the internet; private and reserved ones belong to nobody."""
    if not view.digits:
        return
    for hint, pattern in _KINDS:
        if not hint.search(view.text):
            continue
        for match in pattern.finditer(view.text):
            if _public(match.group()):
                someones = view.near(cues.LOGIN, *match.span(), before=24, after=0)
                yield Finding("IP", *match.span(), Level.MEDIUM if someones else Level.LOW)


def _public(written: str) -> bool:
    try:
        return ipaddress.ip_address(written).is_global and written not in _RESOLVERS
    except ValueError:
        return False

"""Which proxy leads to an upstream."""

from __future__ import annotations

from urllib.request import getproxies, proxy_bypass

from hybridge.cloud.http import address
from hybridge.cloud.http.address import Address

DIRECT = "direct"
"""In the place of a proxy: none."""


def proxy_for(url: str, own: str | None) -> Address | None:
    """The backend's own, or the system's, but never the system's for loopback.

    The system's is what `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say, in capitals or
    not, or the settings of macOS and Windows; `DIRECT` is none, whatever it says. Raises
    `ConfigError` for one that is no HTTP proxy.
    """
    if own == DIRECT:
        return None
    if own is not None:
        return address.proxy(own)
    upstream = address.upstream(url)
    if address.is_loopback(url) or proxy_bypass(upstream.authority):
        return None
    systems = getproxies()
    found = systems.get(upstream.scheme) or systems.get("all")
    return address.proxy(found) if found else None

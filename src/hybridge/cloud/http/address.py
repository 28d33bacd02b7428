"""Where a URL leads."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import SplitResult, quote, unquote, urlsplit

from hybridge.core.errors import ConfigError

_PORTS = {"http": 80, "https": 443}
_PATH_CHARACTERS = "/%:@!$&'()*+,;=~-._"
"""What may stand in a path as it is (RFC 3986, 3.3)."""


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of an http or https URL."""

    scheme: str
    host: str
    """Without brackets, as it is resolved and as a certificate names it."""
    port: int
    path: str
    """Without a slash at its end."""
    user: str | None = field(default=None, repr=False)
    """`name:password`, where the URL has one."""

    @property
    def tls(self) -> bool:
        """Whether it is spoken to in TLS."""
        return self.scheme == "https"

    @property
    def loopback(self) -> bool:
        """Whether it is this machine."""
        return _is_loopback(self.host)

    @property
    def authority(self) -> str:
        """As in a `host` header: the port only where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def authority_with_port(self) -> str:
        """As CONNECT needs it (RFC 9110, 9.3.6)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def upstream(url: str) -> Address:
    """The address of a `base_url`. Raises `ConfigError`."""
    address, parts = _address(url, "base_url")
    if address.user is not None:
        raise ConfigError("base_url: a user name has no place in it; keys come from `api_key_env`")
    if parts.query or parts.fragment:
        raise ConfigError("base_url: a `?` or `#` has no place in it; it ends with its path")
    return address


def proxy(url: str) -> Address:
    """The address of a proxy, `host:port` alone too. Raises `ConfigError`, never naming a user."""
    return _address(url if "://" in url else f"http://{url}", "proxy")[0]


def is_loopback(url: str) -> bool:
    """Whether a URL's host is this machine. Raises `ConfigError` for what is no URL."""
    try:
        return _is_loopback(urlsplit(url).hostname or "")
    except ValueError as error:
        raise ConfigError("base_url is no URL; one looks like https://host/v1") from error


def _is_loopback(host: str) -> bool:
    """By RFC 6761, 6.3 too."""
    name = host.removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _address(url: str, what: str) -> tuple[Address, SplitResult]:
    try:
        parts = urlsplit(url)
        port = parts.port
        host = _ascii(parts.hostname or "")
    except ValueError as error:
        raise ConfigError(f"{what}: is no URL") from error
    if parts.scheme not in _PORTS:
        raise ConfigError(f"{what}: begins with http:// or https://, not {parts.scheme or 'less'}")
    if not host:
        raise ConfigError(f"{what}: names no host")
    user = parts.username
    if user is not None:
        user = f"{unquote(user)}:{unquote(parts.password or '')}"
    path = quote(parts.path.rstrip("/"), safe=_PATH_CHARACTERS)
    return Address(parts.scheme, host, port or _PORTS[parts.scheme], path, user), parts


def _ascii(host: str) -> str:
    """An international name as DNS and TLS know it."""
    return host if host.isascii() else host.encode("idna").decode("ascii")

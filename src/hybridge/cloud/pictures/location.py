"""Where a URL leads, read strictly."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from msgspec import Struct

from hybridge.cloud.http.address import Address
from hybridge.cloud.pictures.errors import BadPicture

MOST_CHARACTERS = 8192
"""Of a URL. Servers read request lines of about 8 KiB (RFC 9112, 3 wants 8000)."""
_PORTS = {"http": 80, "https": 443}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
"""A name as DNS carries it; underscores are against the rules and in use."""
_LONGEST_NAME = 253
_BRACKETED = re.compile(r"\[[0-9A-Fa-f:.]+\](:[0-9]*)?")
"""An IPv6 address and nothing around it; `urlsplit` passes over what else is there."""
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
"""A last label that makes a name an IPv4 address (URL standard, "ends in a number")."""
_SAFE = "/%:@!$&'()*+,;=~-._?"
"""What may stand in a path or a query as it is (RFC 3986, 3.3 and 3.4)."""


class Location(Struct, frozen=True):
    """A URL that can be fetched from, as far as its spelling goes."""

    url: str
    address: Address
    target: str
    """Path and query, as in a request line."""


def location(url: str) -> Location:
    """Reads an absolute URL. Raises `BadPicture`."""
    if len(url) > MOST_CHARACTERS or _CONTROLS.search(url):
        raise BadPicture("is no address that can be fetched from")
    try:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS:
            raise BadPicture("must be an https address or a data URI with Base64")
        if "@" in parts.netloc:
            raise BadPicture("names a user, which no picture's address may")
        address = Address(parts.scheme, _host(parts), _port(parts), "")
        return Location(url, address, _target(parts))
    except ValueError as error:
        raise BadPicture("is no address that can be fetched from") from error


def redirected(here: Location, to: bytes) -> Location:
    """Where a `location` header leads from `here`. Raises `BadPicture`."""
    try:
        return location(urljoin(here.url, to.decode()))
    except ValueError as error:
        raise BadPicture("redirects to what is no address") from error


def host_of(name: str) -> str:
    """A host's name as DNS knows it, or its IPv4 address in the one spelling that is no trap.

    Decimal, octal, hexadecimal and shortened IPv4 addresses, which resolvers read each in its own
    way, are refused. Raises `ValueError`.
    """
    plain = name.lower() if name.isascii() else name.encode("idna").decode("ascii").lower()
    plain = plain.removesuffix(".")
    if len(plain) > _LONGEST_NAME or not _NAME.fullmatch(plain):
        raise ValueError("is no host's name")
    if _NUMBER.fullmatch(plain.rpartition(".")[2]):
        return str(IPv4Address(plain))
    return plain


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if "[" not in parts.netloc:
        return host_of(host)
    if not _BRACKETED.fullmatch(parts.netloc):  # a zone (RFC 4007) belongs to one machine
        raise ValueError("is no address")
    return str(IPv6Address(host))


def _port(parts: SplitResult) -> int:
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    if not port:
        raise ValueError("nobody listens on port 0")
    return port


def _target(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe=_SAFE)
    return f"{path}?{quote(parts.query, safe=_SAFE)}" if parts.query else path

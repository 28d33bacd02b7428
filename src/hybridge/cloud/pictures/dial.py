"""Connecting with a host whose addresses were looked at."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, ip_address

from hybridge.cloud.http.address import Address
from hybridge.cloud.http.connection import Connection
from hybridge.cloud.http.race import STAGGER_S, Found, first_of
from hybridge.cloud.pictures.errors import BadPicture
from hybridge.cloud.pictures.networks import Allowed, IpAddress, is_public

TRIED = 4
"""Addresses of one host that are tried; who runs the host's DNS decides how many there are."""
Resolve = Callable[[str, int], Awaitable[Sequence[Found]]]
"""The addresses of a host, in the order in which to try them. Raises `OSError`."""


async def system(host: str, port: int) -> Sequence[Found]:
    """As the machine's own resolver knows them."""
    return await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)


class Dialler:
    """Resolves a name once, looks at every address, and connects with one that was looked at.

    A name that changes its answer between the look and the connection ("DNS rebinding") gains
    nothing by it. Proxies are not used, since through one it would be the proxy that resolves.
    """

    def __init__(self, allowed: Allowed, trust: ssl.SSLContext, resolve: Resolve = system) -> None:
        self._allowed = allowed
        self._trust = trust
        self._resolve = resolve

    @asynccontextmanager
    async def connected(self, address: Address) -> AsyncIterator[Connection]:
        """A connection, which ends with the block. Raises `BadPicture`."""
        found = await self._looked_at(address)
        connection = Connection(asyncio.get_running_loop(), free=Connection.close, lost=_forget)
        try:
            await self._connect(connection, address, found)
            yield connection
        finally:
            connection.close()

    async def _looked_at(self, address: Address) -> Sequence[Found]:
        if not address.tls and not self._allowed.may_be(address.host):
            raise _not_secure()
        found = await self._found(address)
        addresses = [ip_address(line[4][0]) for line in found]
        check(address, addresses, self._allowed)
        return found

    async def _found(self, address: Address) -> Sequence[Found]:
        try:
            return [_line(address.host, address.port)]
        except ValueError:
            pass
        try:
            return await self._resolve(address.host, address.port)
        except OSError:
            return []  # names inside a network are not told apart from names that are nowhere

    async def _connect(
        self, connection: Connection, address: Address, found: Sequence[Found]
    ) -> None:
        trust, name = (self._trust, address.host) if address.tls else (None, None)
        try:
            sock = await first_of(found[:TRIED], stagger_s=STAGGER_S)
            try:
                await asyncio.get_running_loop().create_connection(
                    lambda: connection, sock=sock, ssl=trust, server_hostname=name
                )
            except BaseException:
                sock.close()
                raise
        except ssl.SSLCertVerificationError as error:
            why = f"is at a host whose certificate is not trusted: {error.verify_message}"
            raise BadPicture(why) from error
        except OSError as error:
            raise BadPicture("is at a host that cannot be reached") from error


def check(address: Address, addresses: Sequence[IpAddress], allowed: Allowed) -> None:
    """Raises `BadPicture` unless a host may be connected with at each of its addresses."""
    if addresses and allowed.has(address.host, addresses):
        return
    if not addresses or not all(is_public(one) or allowed.knows(one) for one in addresses):
        raise BadPicture(
            "leads to no public address; an operator can allow hosts of an own network "
            "(`cloud.pictures.allowed`)"
        )
    if not address.tls:
        raise _not_secure()


def _not_secure() -> BadPicture:
    return BadPicture(
        "must be an https address; an operator can allow http for hosts of an own network "
        "(`cloud.pictures.allowed`)"
    )


def _line(host: str, port: int) -> Found:
    """An address that stands in the URL. Raises `ValueError` for a name."""
    v6 = isinstance(ip_address(host), IPv6Address)
    family = socket.AF_INET6 if v6 else socket.AF_INET
    return (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))


def _forget(_: Connection) -> None:
    """Nobody keeps these connections."""

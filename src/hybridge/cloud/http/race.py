"""Connecting to a host that has several addresses (RFC 8305, `happy eyeballs`).

asyncio has a race of its own, but uvloop cannot run it, and when it is cancelled it leaves a
connection open (tried with Python 3.11).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import Any

STAGGER_S = 0.25
"""How long an attempt is waited for before the next one begins beside it (RFC 8305, section 5)."""

Found = tuple[int, int, int, str, Any]
"""One line of `getaddrinfo`: family, type, protocol, canonical name, address."""


async def reach(host: str, port: int, *, here: bool) -> socket.socket:
    """A connection to whichever address answers first. Raises `OSError`.

    `here`: the host is this machine. A name for it needs no resolver (RFC 6761, 6.3): both
    families are tried at once, since one that nobody listens on may take seconds to say so.
    """
    if (found := _literal(host, port)) is not None:
        return await _connected(found)
    if here:
        both = [_line("127.0.0.1", port, 4), _line("::1", port, 6)]
        return await first_of(both, stagger_s=0.0)
    loop = asyncio.get_running_loop()
    lines = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return await first_of(_by_turns(lines), stagger_s=STAGGER_S)


async def first_of(addresses: Sequence[Found], *, stagger_s: float) -> socket.socket:
    """Begins with the first address, and with the next whenever one fails or takes too long.

    Raises the last `OSError` when all fail. Whatever happens, no connection but the one that is
    returned stays open.
    """
    if len(addresses) == 1:
        return await _connected(addresses[0])
    waiting, under_way = list(addresses), set[asyncio.Task[socket.socket]]()
    failure = OSError("has no address")
    try:
        while waiting or under_way:
            if waiting:
                under_way.add(asyncio.ensure_future(_connected(waiting.pop(0))))
            done, under_way = await asyncio.wait(
                under_way,
                timeout=stagger_s if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            under_way |= done  # until it is known whose connection is kept
            for attempt in done:
                under_way.discard(attempt)
                error = attempt.exception()
                if error is None:
                    return attempt.result()
                if not isinstance(error, OSError):
                    raise error
                failure = error
        raise failure
    finally:
        for attempt in under_way:
            attempt.cancel()
            attempt.add_done_callback(_discard)


async def _connected(found: Found) -> socket.socket:
    family, kind, protocol, _, address = found
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


def _discard(attempt: asyncio.Task[socket.socket]) -> None:
    """It lost, but may have come through all the same."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()


def _literal(host: str, port: int) -> Found | None:
    """An address that stands in the URL needs no resolver, and no thread for one."""
    if "%" in host:
        return None  # a zone (RFC 4007), which the resolver knows how to number
    try:
        return _line(host, port, ip_address(host).version)
    except ValueError:
        return None


def _line(host: str, port: int, version: int) -> Found:
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    return (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))


def _by_turns(found: Iterable[Found]) -> list[Found]:
    """Families by turns, the one that the system prefers first (RFC 8305, section 4)."""
    families: dict[int, list[Found]] = {}
    for line in found:
        families.setdefault(line[0], []).append(line)
    mixed = chain.from_iterable(zip_longest(*families.values()))
    return [line for line in mixed if line is not None]

"""Fetching one picture."""

from __future__ import annotations

import asyncio
from math import inf

from hybridge.cloud.http.errors import Unreachable
from hybridge.cloud.http.response import Response
from hybridge.cloud.http.stream import Stream
from hybridge.cloud.pictures import kinds
from hybridge.cloud.pictures.data_uri import DataUri
from hybridge.cloud.pictures.dial import Dialler
from hybridge.cloud.pictures.errors import BadPicture
from hybridge.cloud.pictures.location import Location, location, redirected
from hybridge.cloud.pictures.room import Room

REDIRECTS = 3
"""How many are followed, each looked at as if the caller had written it."""
_MOVED = (301, 302, 303, 307, 308)
_HEADERS = "\r\n".join(
    [
        "user-agent: hybridge",
        f"accept: {', '.join(kinds.TYPES)}",
        "accept-encoding: identity",
        "connection: close",
    ]
)
"""All that a picture's host is told: no cookie, no key, no word of who asks."""


async def fetch(url: str, dialler: Dialler, room: Room) -> str:
    """The data URI of the picture at `url`. Raises `BadPicture`; sets no limit of time."""
    here = location(url)
    for _ in range(REDIRECTS + 1):
        got = await _asked(here, dialler, room)
        if isinstance(got, str):
            return got
        here = got
    raise BadPicture(f"redirects more than {REDIRECTS} times")


async def _asked(here: Location, dialler: Dialler, room: Room) -> str | Location:
    """The picture's data URI, or where it has gone to."""
    head = f"GET {here.target} HTTP/1.1\r\nhost: {here.address.authority}\r\n{_HEADERS}\r\n\r\n"
    async with dialler.connected(here.address) as connection:
        try:
            response = await connection.ask(head.encode("ascii"), b"", inf, stream=True)
            if response.status in _MOVED:
                return redirected(here, response.header(b"location"))
            _check(response, room)
            return await _read(Stream(connection, response, inf, inf, connection.loop), room)
        except Unreachable as error:
            raise BadPicture(f"could not be fetched: its server {error}") from error


def _check(response: Response, room: Room) -> None:
    """What can be known before the picture is there."""
    if response.status != 200:
        raise BadPicture(f"could not be fetched: its server answers {response.status}")
    kinds.check_served_as(response.header(b"content-type"))
    announced = response.header(b"content-length")
    if announced.isdigit():
        room.check(int(announced))


async def _read(stream: Stream, room: Room) -> str:
    uri = DataUri()
    with stream:
        while piece := await stream.read():
            room.take(len(piece))
            uri.feed(piece)
            await asyncio.sleep(0)  # a fast server leaves nobody else a turn
    return uri.end()

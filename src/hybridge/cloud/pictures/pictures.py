"""Pictures of a request that lie elsewhere, put into it."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hybridge.cloud.pictures.config import PicturesConfig
from hybridge.cloud.pictures.dial import Dialler, Resolve, system
from hybridge.cloud.pictures.errors import BadPicture
from hybridge.cloud.pictures.fetch import fetch
from hybridge.cloud.pictures.networks import Allowed
from hybridge.cloud.pictures.places import Place, inlined, places
from hybridge.cloud.pictures.room import Room, Total
from hybridge.core.clock import Deadline

AT_ONCE = 8
"""Pictures of one request that are fetched at the same time."""


class Pictures:
    """Fetches pictures over the internet. Keeps nothing: no picture, no connection, no cookie."""

    def __init__(
        self, config: PicturesConfig, trust: ssl.SSLContext, resolve: Resolve = system
    ) -> None:
        """`trust`: whose certificates are believed."""
        self._config = config
        self._dialler = Dialler(Allowed.of(config.allowed), trust, resolve)

    async def inline(self, body: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
        """A copy of a chat-completions body in which every picture is a data URI.

        Each address is fetched once. The body stays as it is, and so does what is a data URI
        already. Raises `BadPicture` for the first that fails, and then gives up the others.
        """
        wanted = places(body)
        return inlined(body, await self._all(wanted, deadline)) if wanted else dict(body)

    async def _all(self, wanted: Sequence[Place], deadline: Deadline) -> dict[str, str]:
        """The data URI of each address."""
        times = Counter(place.url for place in wanted)
        first = {place.url: place for place in reversed(wanted)}
        if len(first) > self._config.most:
            most = self._config.most
            raise BadPicture(f"name pictures at more than {most} addresses", param="messages")
        total, gate = Total(self._config.request_mib), asyncio.Semaphore(AT_ONCE)

        async def one(place: Place) -> str:
            async with gate:
                room = Room(self._config.picture_mib, total, times[place.url])
                return await self._one(place, room, deadline)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = {url: group.create_task(one(place)) for url, place in first.items()}
        except ExceptionGroup as failures:
            failure = failures.exceptions[0]
        else:
            return {url: task.result() for url, task in tasks.items()}
        raise failure

    async def _one(self, place: Place, room: Room, deadline: Deadline) -> str:
        own_s, left_s = self._config.timeout_s, deadline.remaining_s
        try:
            async with asyncio.timeout(min(own_s, left_s)):
                return await fetch(place.url, self._dialler, room)
        except BadPicture as error:
            raise BadPicture(error.what, param=place.param) from error
        except TimeoutError as error:
            limit = f"within {own_s:g} s" if own_s < left_s else "before the request's time was up"
            raise BadPicture(f"could not be fetched {limit}", param=place.param) from error

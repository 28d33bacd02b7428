"""A request with placeholders where it holds personal data, and the way back (R31)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from hybridge.core.request import Request
from hybridge.core.response import Event


class Disguise(Protocol):
    """Made for one request by `privacy`, put on and taken off at the door in `execution.egress`.

    What stands for what is known to it alone, in memory, and gone with the request.
    """

    @property
    def request(self) -> Request:
        """The request as it may leave."""
        ...

    def restored(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """An answer with the values back in the places of their placeholders, however it is cut
        into pieces. Closing it closes `events`."""
        ...

"""How news leaves the process: one function that posts, given in by whoever builds the house."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct


class Answer(Struct, frozen=True):
    """What a receiver said."""

    status: int
    body: bytes = b""
    """Its beginning: some receivers say in it that they refused, with a status of 200."""


class Post(Protocol):
    """Sends one body to one address, and follows no redirect.

    Raises `OSError`, `TimeoutError` among them, or an error of its own, for whatever prevents it.
    """

    async def __call__(
        self, url: str, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> Answer: ...


class Persistence(Struct, frozen=True):
    """How long something is tried."""

    attempts: int = 5
    """In all, at least 1."""
    timeout_s: float = 5.0
    """For each."""
    pause_s: float = 1.0
    """After the first; each further one is twice as long, and all are moved about at random."""
    longest_s: float = 30.0
    """The longest pause."""
    close_s: float = 3.0
    """What closing may take; what could not be sent by then is given up."""

    def pause(self, attempt: int, draw: Callable[[], float] = random.random) -> float:
        """Seconds to wait after a failed attempt, counted from 1: half of it to all of it."""
        whole = min(self.longest_s, self.pause_s * 2.0 ** (attempt - 1))
        return whole * (0.5 + 0.5 * draw())


AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same may be sent once more."""


def origin(url: str) -> str:
    """An address without its secret parts: scheme, host and port."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}"


def secret_parts(url: str) -> frozenset[str]:
    """What must not be read in a log: whoever knows a webhook's address can post to it."""
    parts = urlsplit(url)
    values = {value for _, value in parse_qsl(parts.query)}
    found = {url, parts.path.strip("/"), parts.query, parts.username, parts.password, *values}
    return frozenset(part for part in found if part)

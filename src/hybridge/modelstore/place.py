"""Where a store's files lie: what the store needs of a folder or of a bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from hybridge.core.errors import ModelError

Told = Callable[[int], None]
"""Told how many further bytes have come or gone."""
NEW = ""
"""The stamp of what is not there yet."""


class Unreachable(ModelError):
    """The place cannot be reached now, and may be later; the message names it."""


class Conflict(ModelError):
    """Somebody else has changed it meanwhile."""


class Stamped(Struct, frozen=True):
    """A small file as it was read."""

    data: bytes
    stamp: str
    """Another one for other contents; never `NEW`."""


class Entry(Struct, frozen=True):
    """A file, without its contents."""

    key: str
    size_bytes: int
    changed_at: datetime


class Sink(Protocol):
    """What bytes are written to."""

    def write(self, data: bytes, /) -> int: ...


class Place(Protocol):
    """Files by key. Everything blocks; `tests/contract/test_place.py` is what each must pass.

    A file is there whole or not at all, whenever the machine stops. Each method raises
    `Unreachable` or another `ModelError`.
    """

    @property
    def address(self) -> str:
        """For messages."""
        ...

    def read(self, key: str) -> Stamped | None:
        """A small file; None where there is none."""
        ...

    def write(self, key: str, data: bytes, *, expecting: str | None = None) -> None:
        """Puts a small file in the place of what has the stamp `expecting` (None: of anything).

        Raises `Conflict` where something else is there by now.
        """
        ...

    def entries(self, folder: str) -> Sequence[Entry]:
        """All files below a folder (`a/b/`; empty: all), in the order of their keys, but for those
        that are locks."""
        ...

    def send(self, key: str, file: Path, told: Told) -> None:
        """Puts a file of any size there."""
        ...

    def fetch(self, key: str, into: Sink, told: Told) -> None:
        """Writes a file of any size. Raises `ModelError` where there is none."""
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Takes files away; those that are not there are no error."""
        ...

    def locked(self, name: str) -> AbstractContextManager[None]:
        """Nobody else is within this block for the same name, wherever they run."""
        ...

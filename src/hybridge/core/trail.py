"""Where a request went: noted at the door that everything leaves through (R32)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

Kind = Literal["backend", "embedder", "judge", "cache"]
"""What was asked; of a cache: that the answer was put there."""


class Exit(Struct, frozen=True, omit_defaults=True):
    """One time that a request left this device. It is noted before anything is sent."""

    to: str
    """Name of the backend or embedder that was asked, or of the cache."""
    kind: Kind = "backend"
    disguised: bool = False
    """Whether placeholders stood where it holds personal data."""


Late = Callable[[Exit], None]


class Trail:
    """The exits of one request, and which weights answered it. Comparisons may go on, and so leave,
    when it is over."""

    __slots__ = ("_late", "_version", "exits")

    def __init__(self) -> None:
        self.exits: tuple[Exit, ...] = ()
        """So far, or until it was over."""
        self._late: Late | None = None
        self._version: tuple[str, str] | None = None

    def note(self, left: Exit) -> None:
        """To be called before anything is sent."""
        if self._late is None:
            self.exits += (left,)
        else:
            self._late(left)

    def answering(self, backend: str, version: str) -> None:
        """A backend that has more than one version of its weights answers by this one."""
        self._version = backend, version

    def version(self, backend: str, otherwise: str) -> str:
        """Of the weights that answer for a backend, where it told."""
        told = self._version
        return told[1] if told is not None and told[0] == backend else otherwise

    def close(self, late: Late) -> tuple[Exit, ...]:
        """The request is over: all exits until now; those to come are told to `late`."""
        self._late = late
        return self.exits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trail) and self.exits == other.exits

    __hash__ = None  # type: ignore[assignment]

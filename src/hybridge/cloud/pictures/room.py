"""How large pictures may be."""

from __future__ import annotations

from hybridge.cloud.pictures.errors import BadPicture

MIB = 1 << 20


class Total:
    """The room that all pictures of one request share."""

    def __init__(self, mib: int) -> None:
        self._mib = mib
        self._left = mib * MIB

    def take(self, size: int) -> None:
        """Raises `BadPicture` when there is not as much left."""
        self._left -= size
        if self._left < 0:
            raise BadPicture(f"makes the request's pictures larger than {self._mib} MiB together")


class Room:
    """The room that one picture has."""

    def __init__(self, mib: int, total: Total, times: int) -> None:
        """`times`: how often it stands in the request."""
        self._mib = mib
        self._left = mib * MIB
        self._total = total
        self._times = times

    def check(self, size: int) -> None:
        """Raises `BadPicture` for an announced size that is too large already."""
        if size > self._left:
            raise self._too_large()

    def take(self, size: int) -> None:
        """For bytes that have come. Raises `BadPicture` when they are too many."""
        self._left -= size
        if self._left < 0:
            raise self._too_large()
        self._total.take(size * self._times)

    def _too_large(self) -> BadPicture:
        return BadPicture(f"is a picture larger than {self._mib} MiB")

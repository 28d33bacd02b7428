"""Reading the files of a version again, and telling those that are not what they should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from msgspec import Struct

from hybridge.modelstore.manifest import Manifest, Progress
from hybridge.modelstore.place import Place


class Flaw(Struct, frozen=True):
    """A file that is not what its manifest says."""

    file: str
    wanted: str
    """SHA-256."""
    found: str | None
    """None: it is missing."""

    def __str__(self) -> str:
        found = "it is missing" if self.found is None else f"it has SHA-256 {self.found}"
        return f"{self.file} should have SHA-256 {self.wanted}, and {found}"


class Digesting:
    """A sink that keeps nothing but the digest, or passes the bytes on as well."""

    def __init__(self, also: Callable[[bytes], int] | None = None) -> None:
        self._also = also
        self._digest = sha256()

    def write(self, data: bytes, /) -> int:
        """Takes the bytes in."""
        self._digest.update(data)
        return len(data) if self._also is None else self._also(data)

    @property
    def sha256(self) -> str:
        """Of all bytes until now."""
        return self._digest.hexdigest()


def flaws(place: Place, folder: str, manifest: Manifest, progress: Progress) -> Iterator[Flaw]:
    """The files below `folder` that are missing, or are others than the manifest's."""
    there, done = {entry.key for entry in place.entries(f"{folder}/files/")}, 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        progress(done, manifest.size_bytes)

    for file in manifest.files:
        key = f"{folder}/files/{file.path}"
        if key not in there:
            yield Flaw(f"{place.address}/{key}", file.sha256, None)
            continue
        digest = Digesting()
        place.fetch(key, digest, told)
        if digest.sha256 != file.sha256:
            yield Flaw(f"{place.address}/{key}", file.sha256, digest.sha256)

"""What a gateway needs of the store: versions that lie on this machine, and were checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from hybridge.core.errors import ModelError
from hybridge.modelstore.checking import Digesting
from hybridge.modelstore.folder import FolderPlace
from hybridge.modelstore.manifest import Manifest, ModelFile, Progress
from hybridge.modelstore.pointer import Pointer
from hybridge.modelstore.versions import Versions


class Library:
    """A store, and the folder of this machine that its versions are loaded from.

    Where the store is a folder itself, that is the same one. Everything blocks.
    """

    def __init__(self, store: Versions, shelf: FolderPlace) -> None:
        self.store = store
        self._shelf = shelf
        self._copies = Versions(shelf)
        self.is_here = store.place is shelf
        """Whether the store's own files are loaded from."""

    @property
    def pointers(self) -> Callable[[Iterable[str]], list[Path]] | None:
        """The files that say which version of each model is in force; None where they are not in a
        folder."""
        return self._pointers if self.is_here else None

    def bring(
        self, name: str, version: str, progress: Progress = lambda _done, _total: None
    ) -> Path:
        """The folder of a version's files, each of them read and found to be what it should be.

        Raises `ModelError` that names the file and both digests.
        """
        manifest = self._known(name, version)
        if not self.is_here and self._copies.verify(manifest):
            self._copies.receive(manifest, self._fetch, progress, held=self._held(name))
        if flaws := self._copies.verify(manifest, progress):
            raise ModelError("; ".join(map(str, flaws)))
        return self._shelf.path(f"{name}/versions/{version}/files")

    def active(self, name: str) -> str:
        """The version in force. Raises `ModelError` where there is none."""
        found = self.store.pointer(name).active
        if found is None:
            raise ModelError(f"no version of {name} is active in {self.store.place.address}")
        return found

    def remembered(self, name: str) -> Pointer:
        """What was in force when the store could be reached last."""
        return self._copies.pointer(name)

    def remember(self, name: str, pointer: Pointer) -> None:
        """Notes what is in force, for a start without the store."""
        if not self.is_here and self._copies.pointer(name) != pointer:
            self._copies.note(name, pointer)

    def _pointers(self, names: Iterable[str]) -> list[Path]:
        return [self._shelf.path(f"{name}.json") for name in names]

    def _known(self, name: str, version: str) -> Manifest:
        """The manifest, from the copy where there is one: it needs no network."""
        if not self.is_here:
            for copy in self._copies.all(name):
                if copy.version == version:
                    return copy
        return self.store.manifest(name, version)

    def _fetch(self, file: ModelFile, key: str, told: Callable[[int], None]) -> None:
        with self._shelf.writing(key) as target:
            digesting = Digesting(target.write)
            self.store.place.fetch(key, digesting, told)
            if digesting.sha256 != file.sha256:
                raise ModelError(
                    f"{self.store.place.address}/{key} should have SHA-256 {file.sha256}, "
                    f"and it has SHA-256 {digesting.sha256}"
                )

    def _held(self, name: str) -> frozenset[str]:
        return self.store.pointer(name).held

"""A folder as a place for models."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from hybridge.core.errors import ModelError
from hybridge.modelstore.digest import BLOCK
from hybridge.modelstore.place import NEW, Conflict, Entry, Sink, Stamped, Told

_PART = ".part-"
"""How the names of files begin that are still being written."""


class FolderPlace:
    """Implements `Place`. Files are written beside their name, and moved there in one step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def address(self) -> str:
        return str(self.folder)

    def path(self, key: str) -> Path:
        """Where a file lies, or would."""
        return self.folder / key

    def read(self, key: str) -> Stamped | None:
        with self._explained():
            try:
                data = self.path(key).read_bytes()
            except FileNotFoundError:
                return None
            return Stamped(data, sha256(data).hexdigest())

    def write(self, key: str, data: bytes, *, expecting: str | None = None) -> None:
        with self._locked(".write.lock"):
            if expecting is not None:
                found = self.read(key)
                if (NEW if found is None else found.stamp) != expecting:
                    raise Conflict(f"{self.path(key)} was changed by somebody else; try again")
            with self.writing(key) as file:
                file.write(data)

    def entries(self, folder: str) -> Sequence[Entry]:
        with self._explained():
            paths = (self.folder / folder).rglob("*")
            found = [self._entry(path) for path in paths if not _passing(path)]
        return sorted((entry for entry in found if entry is not None), key=lambda one: one.key)

    def send(self, key: str, file: Path, told: Told) -> None:
        with self._explained(), file.open("rb") as source, self.writing(key) as target:
            while block := source.read(BLOCK):
                told(target.write(block))

    def fetch(self, key: str, into: Sink, told: Told) -> None:
        with self._explained(), self.path(key).open("rb") as file:
            while block := file.read(BLOCK):
                into.write(block)
                told(len(block))

    def delete(self, keys: Iterable[str]) -> None:
        with self._explained():
            for key in keys:
                self.path(key).unlink(missing_ok=True)
                self._tidy(self.path(key).parent)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        with self._locked(f".{name}.lock"):
            yield

    @contextmanager
    def writing(self, key: str) -> Iterator[IO[bytes]]:
        """A new file, which has its name once the block has ended well."""
        path = self.path(key)
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, prefix=_PART, delete=False) as part:
                try:
                    yield part.file
                    part.flush()
                    os.fsync(part.fileno())  # a name without its bytes were a lie
                    Path(part.name).chmod(0o644)
                    Path(part.name).rename(path)
                except BaseException:
                    Path(part.name).unlink(missing_ok=True)
                    raise
            _sync(path.parent)

    @contextmanager
    def _locked(self, file: str) -> Iterator[None]:
        with self._explained():
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / file).open("w")
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = error.filename or self.folder
            raise ModelError(f"{what} cannot be used: {error.strerror or error}") from error

    def _entry(self, path: Path) -> Entry | None:
        with suppress(FileNotFoundError):  # somebody else has just taken it away
            if path.is_file():
                found, key = path.stat(), path.relative_to(self.folder).as_posix()
                return Entry(key, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))
        return None

    def _tidy(self, folder: Path) -> None:
        """Takes folders away that are empty now."""
        with suppress(OSError):
            while folder != self.folder:
                folder.rmdir()
                folder = folder.parent


def _passing(path: Path) -> bool:
    return path.name.startswith(_PART) or path.name.endswith(".lock")


def _sync(folder: Path) -> None:
    """After a power cut the name is there too."""
    with suppress(OSError):  # not every system lets folders be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

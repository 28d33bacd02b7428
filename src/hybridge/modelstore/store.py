"""A folder of model files, each of them whole or not there at all."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hybridge.core.errors import ModelError
from hybridge.modelstore.catalogue import CATALOGUE, CatalogueModel

BLOCK = 1 << 20
"""Bytes read at once."""


class ModelStore:
    """Files are written beside their final name, checked, and then moved there in one step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path | None:
        """Where a model of the catalogue lies; None when it is not here.

        A file of the wrong size counts as not here. Its digest was checked when it came.
        """
        model = known(name)
        path = self.folder / model.file_name
        complete = path.is_file() and path.stat().st_size == model.size_bytes
        return path if complete else None

    def verify(self, name: str) -> None:
        """Reads the whole file again. Raises `ModelError` when it is not what it should be."""
        path, model = self.path(name), known(name)
        if path is None:
            raise ModelError(f"{name} is not in {self.folder}")
        with path.open("rb") as file:
            found = _digest(file)
        if found != model.sha256:
            raise ModelError(f"{path} has sha256 {found}, not {model.sha256}: delete it, fetch anew")

    @contextmanager
    def installing(self, name: str) -> Iterator[None]:
        """Holds the lock on a model, so that two processes never fetch it at once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f".{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def install(self, name: str, write: Callable[[BinaryIO], None]) -> Path:
        """Lets `write` fill a file, checks it, and gives it its name.

        Raises `ModelError` when what was written is not the model; nothing is left behind then.
        """
        model = known(name)
        part = self.folder / f".{model.file_name}.part"
        try:
            with part.open("w+b") as file:
                write(file)
                file.flush()
                _check(file, model)
            return part.rename(self.folder / model.file_name)
        finally:
            part.unlink(missing_ok=True)

    def check_space(self, name: str) -> None:
        """Raises `ModelError` when the disk has no room for the model."""
        model = known(name)
        free = shutil.disk_usage(self.folder).free
        if free < 1.2 * model.size_bytes:
            raise ModelError(
                f"{name} needs {model.size_bytes / 1e6:.0f} MB and some more in {self.folder}, "
                f"where {free / 1e6:.0f} MB are free"
            )


def known(name: str) -> CatalogueModel:
    """The catalogue's row. Raises `ModelError` for a name that is not in it."""
    if name not in CATALOGUE:
        raise ModelError(f"there is no model {name!r} in the catalogue: {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def _check(file: BinaryIO, model: CatalogueModel) -> None:
    file.seek(0)
    found = _digest(file)
    if found != model.sha256:
        raise ModelError(f"what came is not {model.name}: sha256 {found}, expected {model.sha256}")


def _digest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(BLOCK):
        digest.update(block)
    return digest.hexdigest()

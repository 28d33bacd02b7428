"""A folder that appears whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hybridge.core.errors import ConfigError


def check_free(out: Path) -> None:
    """Raises `ConfigError` where something lies that would be lost."""
    if out.is_dir() and not any(out.iterdir()):
        return
    if out.exists():
        raise ConfigError(f"{out} is there already: name a new folder, or take it away first")


@contextmanager
def workshop(out: Path) -> Iterator[Path]:
    """A folder to work in, on the disk of `out`; gone at the end."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        yield Path(folder)


def publish(folder: Path, out: Path) -> None:
    """Moves a finished folder to its place, readable by all who may read its neighbours."""
    if out.is_dir():
        out.rmdir()
    folder.chmod(0o755)
    shutil.move(folder, out)


def carry_over(source: Path, target: Path, names: tuple[str, ...]) -> None:
    """Copies those of the files that are there."""
    for name in names:
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)

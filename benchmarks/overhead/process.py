"""A server in a process of its own: started on given cores, watched through /proc, stopped."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True, slots=True)
class Process:
    """A running server and the processes that it started."""

    pid: int
    log: Path
    popen: subprocess.Popen[bytes]

    def ended(self) -> bool:
        """Whether it stopped by itself."""
        return self.popen.poll() is not None

    def last_words(self) -> str:
        """The end of what it printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def cpu_s(self) -> float:
        """Processor time used so far, user and system, all its processes together."""
        ticks = (_stat(pid)[11:13] for pid in _family(self.pid))
        return sum(int(user) + int(system) for user, system in ticks) * _TICK_S

    def memory_mib(self) -> float:
        """Resident memory, all its processes together."""
        return sum(int(_stat(pid)[21]) for pid in _family(self.pid)) * _PAGE_MIB

    def threads(self) -> int:
        """Threads of all its processes together."""
        return sum(int(_stat(pid)[17]) for pid in _family(self.pid))


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from `state` on (proc(5)); the name before may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def _family(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text(encoding="utf-8").split():
            yield from _family(int(child))


@contextmanager
def running(
    command: Sequence[str], *, cpus: str, environment: Mapping[str, str], folder: Path, log: Path
) -> Iterator[Process]:
    """Run `command` in `folder` on the cores `cpus` (taskset's list); it is gone at the end."""
    with log.open("wb") as output:
        popen = subprocess.Popen(
            ["taskset", "-c", cpus, *command],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Process(popen.pid, log, popen)
    finally:
        _stop(popen)


def _stop(popen: subprocess.Popen[bytes]) -> None:
    popen.terminate()
    try:
        popen.wait(timeout=10)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()

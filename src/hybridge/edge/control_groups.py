"""The control groups that this process is in: what a container grants it (Linux)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def folders(groups: Path, membership: Path, controllers: tuple[str, ...]) -> Iterator[Path]:
    """Every folder in which a limit on this process may lie; some of them may not exist.

    `controllers` are the folders of cgroup-v1 (source: kernel.org, cgroup-v1 and cgroup-v2).
    """
    yield from (groups, *(groups / controller for controller in controllers))
    with suppress(OSError):
        for line in membership.read_text().splitlines():
            _number, controllers_of_line, path = line.split(":", 2)
            own = groups / controllers_of_line / path.lstrip("/")
            yield from (own, *(up for up in own.parents if up.is_relative_to(groups)))

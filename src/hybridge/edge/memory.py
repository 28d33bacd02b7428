"""How much memory there is for a model's weights, and a refusal where they certainly do not fit."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hybridge.core.errors import ModelError
from hybridge.edge.control_groups import GROUPS, MEMBERSHIP, folders

_MEMINFO = Path("/proc/meminfo")
_PROCESSES = Path("/proc")
_PAGE = mmap.PAGESIZE
_MB = 1_000_000


def check_room(weights: Path, available: int | None = None) -> None:
    """Raises `ModelError` where a file's weights alone are more than the memory that is left.

    A model that is being replaced still holds its own by then, so this speaks of both together.
    """
    left = available_bytes(_MEMINFO, GROUPS, MEMBERSHIP) if available is None else available
    needed = weights.stat().st_size
    if left is not None and needed > left:
        raise ModelError(
            f"{weights} does not fit: its weights take {needed / _MB:.0f} MB and "
            f"{left / _MB:.0f} MB of memory are available; choose a smaller model, or free memory "
            "(a model in use is only put down once the new one is loaded)"
        )


def memory() -> dict[str, int | None]:
    """Bytes that this process holds (`resident`) and that are left (`available`), where told."""
    return {"resident": resident(), "available": available_bytes(_MEMINFO, GROUPS, MEMBERSHIP)}


def resident(pid: int | None = None) -> int | None:
    """Bytes that a process holds, by default this one; None where the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        told = _PROCESSES / ("self" if pid is None else str(pid)) / "statm"
        return int(told.read_text().split()[1]) * _PAGE
    return None


def available_bytes(meminfo: Path, groups: Path, membership: Path) -> int | None:
    """What may still be taken without being killed for it; None where the system does not tell.

    Pages of files count as available, for they can be given up. The narrowest limit counts.
    """
    return min((*_of_machine(meminfo), *_of_groups(groups, membership)), default=None)


def _of_machine(meminfo: Path) -> Iterator[int]:
    with suppress(OSError, ValueError, KeyError):
        rows = dict(line.split(":") for line in meminfo.read_text().splitlines())
        yield 1024 * sum(int(rows[name].split()[0]) for name in ("MemAvailable", "SwapFree"))


def _of_groups(groups: Path, membership: Path) -> Iterator[int]:
    for folder in folders(groups, membership, ("memory",)):
        with suppress(OSError, ValueError):  # no such limit, or `max`
            yield _left(folder, "memory.max", "memory.current", "file")
        with suppress(OSError, ValueError):
            yield _left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache")


def _left(folder: Path, limit: str, usage: str, cached: str) -> int:
    granted, used = (int((folder / name).read_text()) for name in (limit, usage))
    stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    return granted - used + int(stat.get(cached, 0))

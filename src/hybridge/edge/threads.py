"""Sharing this machine's cores between the local LLMs, the scorer and the event loop (R56).

Measured on two cores with SmolLM2, a second process busy on them: two compute threads made 0.9
tokens a second (2.3 with llama.cpp's polling off), one made 16. A lower priority starved the model,
at 7, and helped nobody. So compute threads never take every core, do not poll, and keep their
priority.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hybridge.edge.control_groups import GROUPS, MEMBERSHIP, folders

_CPUS = Path("/sys/devices/system/cpu")


SCORER_MAX = 4
"""More runs of the encoder at once than one event loop could ask for."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How many compute threads each part may use."""

    llm: int
    """Threads of each local LLM."""
    scorer: int
    """Threads of the sentence encoder, each for a run of its own."""


def shares(available: int, *, llms: int) -> Shares:
    """Divides `available` cores between `llms` local LLMs and the rest of the gateway.

    One core is kept free for the event loop and the scorer wherever there is more than one. The
    scorer alone takes what there is, for it computes only while requests wait for a score.
    """
    if llms == 0:
        return Shares(llm=0, scorer=min(SCORER_MAX, available))
    return Shares(llm=max(1, (available - 1) // llms), scorer=1)


def cores() -> int:
    """Physical cores that this process may use, as its affinity and its container allow."""
    allowed = _allowed()
    return usable(allowed, _siblings(allowed), quota(GROUPS, MEMBERSHIP))


def usable(allowed: frozenset[int], siblings: Iterable[frozenset[int]], limit: float | None) -> int:
    """How many threads can compute at once without being in each other's way, at least 1.

    `allowed` are logical CPUs, `siblings` those of them that share a physical core, and `limit` is
    the container's quota in CPUs. Two threads on one physical core gain llama.cpp nothing.
    """
    paired = [core & allowed for core in siblings]
    alone = allowed.difference(*paired)
    physical = len(alone) + len({core for core in paired if core})
    return max(1, physical if limit is None else min(physical, int(limit)))


def quota(groups: Path, membership: Path) -> float | None:
    """CPUs granted by the control groups that this process is in; None: no limit.

    Source: kernel.org, cgroup-v2 (`cpu.max`) and the older cgroup-v1 (`cpu.cfs_quota_us`). A limit
    on a group holds for the groups within it, so the narrowest one counts.
    """
    return min(_limits(groups, membership), default=None)


def _limits(groups: Path, membership: Path) -> Iterator[float]:
    for folder in folders(groups, membership, ("cpu", "cpu,cpuacct")):
        with suppress(OSError, ValueError):  # no such limit, or `max`
            granted, period = (folder / "cpu.max").read_text().split()
            yield int(granted) / int(period)
        with suppress(OSError, ValueError):
            granted = (folder / "cpu.cfs_quota_us").read_text()
            if int(granted) > 0:
                yield int(granted) / int((folder / "cpu.cfs_period_us").read_text())


def _allowed() -> frozenset[int]:
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def _siblings(allowed: Iterable[int]) -> Iterator[frozenset[int]]:
    """The logical CPUs of each physical core, where the system tells."""
    for cpu in allowed:
        with suppress(OSError, ValueError):
            told = (_CPUS / f"cpu{cpu}/topology/thread_siblings_list").read_text()
            yield frozenset(_listed(told))


def _listed(ranges: str) -> Iterator[int]:
    """The numbers of a list like `0-1,8`."""
    for part in ranges.strip().split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)

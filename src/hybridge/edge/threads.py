"""Sharing this machine's cores between the local LLM, the scorer and the event loop (R56)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@dataclass(frozen=True, slots=True)
class Shares:
    """How many compute threads each part may use."""

    llm: int
    """Threads of each local LLM."""
    scorer: int
    """Threads of the sentence encoder."""


def shares(available: int, *, llms: int) -> Shares:
    """Divides cores between `llms` local LLMs and the rest of the gateway.

    One core is kept free for the event loop and the scorer wherever there is more than one: compute
    threads that wait for each other on a shared core fall from tens of tokens a second to one.
    """
    if llms == 0:
        return Shares(llm=0, scorer=max(1, min(4, available - 1)))
    return Shares(llm=max(1, (available - 1) // llms), scorer=1)


def cores() -> int:
    """Cores this process may use: its affinity within its container's quota, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(allowed or 1, int(_quota() or allowed or 1)))


def _quota() -> float | None:
    """Cores granted by the control group; None: no limit (kernel.org, cgroup-v2, `cpu.max`)."""
    try:
        quota, period = _CGROUP_QUOTA.read_text().split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else int(quota) / int(period)

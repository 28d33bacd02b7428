"""The load generator."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.overhead.workloads import Workload

SCRIPT = Path(__file__).with_name("post.lua")


class MissingToolError(RuntimeError):
    """A program that the benchmark needs is not installed; the message says how to get it."""


def need(*tools: str) -> None:
    """Raise MissingToolError unless each of `tools` can be started."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        names = " ".join("util-linux" if tool == "taskset" else tool for tool in missing)
        raise MissingToolError(
            f"not installed: {', '.join(missing)}. Debian, Ubuntu: sudo apt-get install {names}; "
            f"Fedora: sudo dnf install {names}"
        )


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one load run saw from outside."""

    requests: int
    duration_us: int
    p50_us: int
    p99_us: int
    refused: int
    """Answers with another status than 200."""
    invalid: int
    """Answers with status 200 that were not complete."""
    broken: int
    """Connections that failed, and answers that took longer than ten seconds."""

    @property
    def per_second(self) -> float:
        """Answers per second."""
        return self.requests / self.duration_us * 1e6

    @property
    def faults(self) -> int:
        """Everything that was not a complete answer with status 200."""
        return self.refused + self.invalid + self.broken


def load(
    url: str, workload: Workload, *, folder: Path, key: str, clients: int, seconds: float, cpu: str
) -> Measurement:
    """`clients` connections that each send the next request when the last one is answered."""
    command = ["taskset", "-c", cpu, "wrk", "-t1", f"-c{clients}", f"-d{math.ceil(seconds)}s"]
    command += ["--timeout", "10s", "-s", str(SCRIPT), url, "--"]
    command += [str(folder / f"{workload.name}.json"), workload.ending, key]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"wrk failed against {url}: {ran.stderr.strip() or ran.stdout.strip()}")
    return Measurement(**json.loads(ran.stdout.strip().splitlines()[-1]))

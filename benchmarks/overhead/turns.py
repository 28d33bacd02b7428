"""The run itself: every gateway in turn, round after round, so that a slow minute hits them all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.overhead import probe
from benchmarks.overhead.scene import Scene, Started
from benchmarks.overhead.workloads import Workload
from benchmarks.overhead.wrk import Measurement, load

ANSWERS_EACH = 10
SECONDS_MAX = 20.0


@dataclass(frozen=True, slots=True)
class Length:
    """How long a run takes."""

    rounds: int
    seconds: float
    """Of one measurement, at least."""
    clients: tuple[int, ...]

    def seconds_for(self, clients: int, per_second: float) -> float:
        """Longer where a gateway is slow: requests cut off at the end do not count, so each client
        gets time for about `ANSWERS_EACH` answers, within `SECONDS_MAX`."""
        fair = ANSWERS_EACH * clients / max(per_second, 1e-9)
        return max(self.seconds, min(fair, SECONDS_MAX))


@dataclass(frozen=True, slots=True)
class Turn:
    """One measurement of one gateway."""

    seen: Measurement
    cpu_us: float
    """Processor time that the gateway used per answer, all its threads together."""
    memory_mib: float


@dataclass(frozen=True, slots=True)
class Row:
    """All turns of one gateway under one workload."""

    started: Started
    threads: int
    warm_per_second: float
    """Answers per second while warming up, at the most clients."""
    turns: dict[int, list[Turn]]
    """By number of clients."""

    def median(self, clients: int, value: Callable[[Turn], float]) -> float:
        """The median over the rounds."""
        return statistics.median(value(turn) for turn in self.turns[clients])

    def per_second(self, clients: int) -> float:
        """Answers per second, median over the rounds."""
        return self.median(clients, lambda turn: turn.seen.per_second)

    def p50_us(self, clients: int) -> float:
        """Median latency, median over the rounds."""
        return self.median(clients, lambda turn: turn.seen.p50_us)

    def p99_us(self, clients: int) -> float:
        """99th percentile of latency, median over the rounds."""
        return self.median(clients, lambda turn: turn.seen.p99_us)

    def memory_mib(self) -> float:
        """The most resident memory seen."""
        return max(turn.memory_mib for turns in self.turns.values() for turn in turns)

    def faults(self) -> int:
        """Answers of the whole run that were not complete, or not 200."""
        return sum(turn.seen.faults for turns in self.turns.values() for turn in turns)

    def as_json(self) -> dict[str, Any]:
        """Everything measured, for the file of results."""
        return {
            "gateway": self.started.gateway.name,
            "requirements": self.started.gateway.requirements,
            "threads": self.threads,
            "turns": {str(n): [asdict(turn) for turn in turns] for n, turns in self.turns.items()},
        }


def measure(
    scene: Scene,
    gateways: Sequence[Started],
    workload: Workload,
    length: Length,
    told: Callable[[str], None],
) -> list[Row]:
    """Warm every gateway up, then take turns. RuntimeError when one ends with a wrong answer."""
    rows = [_warmed(scene, started, workload, length, told) for started in gateways]
    for turn in range(length.rounds):
        for row in rows:
            name = row.started.gateway.name
            told(f"{workload.name}: round {turn + 1} of {length.rounds}, {name}")
            for clients, turns in row.turns.items():
                seconds = length.seconds_for(clients, row.warm_per_second)
                turns.append(_one(scene, row.started, workload, clients, seconds))
    for started in gateways:
        if fault := probe.fault(started.url(workload), workload, scene.key):
            raise RuntimeError(f"{started.gateway.name} after the run: {fault}")
    return rows


def _warmed(
    scene: Scene, started: Started, workload: Workload, length: Length, told: Callable[[str], None]
) -> Row:
    told(f"{workload.name}: warming up {started.gateway.name}")
    turn = _one(scene, started, workload, max(length.clients), length.seconds)
    turns: dict[int, list[Turn]] = {clients: [] for clients in length.clients}
    return Row(started, started.process.threads(), turn.seen.per_second, turns)


def _one(scene: Scene, started: Started, workload: Workload, clients: int, seconds: float) -> Turn:
    process = started.process
    _rest(started)
    before = process.cpu_s()
    seen = load(
        started.url(workload),
        workload,
        folder=scene.folder,
        key=scene.key,
        clients=clients,
        seconds=seconds,
        cpu=scene.cores.load,
    )
    used_s = process.cpu_s() - before
    return Turn(seen, used_s / max(seen.requests, 1) * 1e6, process.memory_mib())


def _rest(started: Started, *, step_s: float = 0.2, patience_s: float = 5.0) -> None:
    """Let it finish what the load generator left behind when its time was up."""
    give_up = time.monotonic() + patience_s
    busy = True
    while busy and time.monotonic() < give_up:
        before = started.process.cpu_s()
        time.sleep(step_s)
        busy = started.process.cpu_s() - before > 0.25 * step_s

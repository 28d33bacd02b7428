"""`python -m benchmarks.overhead`: the gateways side by side on this machine, over loopback."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.measured import machine, write
from benchmarks.overhead.gateways import Gateway, known
from benchmarks.overhead.scene import Scene, scene
from benchmarks.overhead.tables import missed, printed
from benchmarks.overhead.turns import Length, Row, measure
from benchmarks.overhead.workloads import Workload, workloads
from benchmarks.overhead.wrk import MissingToolError, need


def main() -> int:
    """Measure, print and keep. Returns 1 with --check when a goal is missed, 2 if it cannot run."""
    asked = _arguments()
    length = Length(asked.rounds, asked.seconds, tuple(asked.clients))
    chosen = [known()[name] for name in asked.gateways]
    try:
        need("nginx", "wrk", "taskset")
        with tempfile.TemporaryDirectory(prefix="overhead-") as folder, scene(Path(folder)) as at:
            misses = [_report(at, chosen, kind, length) for kind in workloads()]
    except (MissingToolError, RuntimeError) as error:
        print(f"overhead: {error}", file=sys.stderr)
        return 2
    found = [miss for several in misses for miss in several]
    print(
        "\n".join(
            ["", *(f"MISSED  {miss}" for miss in found)] if found else ["", "every goal reached"]
        )
    )
    return 1 if asked.check and found else 0


def _report(at: Scene, chosen: Sequence[Gateway], workload: Workload, length: Length) -> list[str]:
    with ExitStack() as stack:
        started = [stack.enter_context(at.start(gateway)) for gateway in chosen]
        before = machine()
        rows = measure(at, started, workload, length, _told)
    print(f"\n## {workload.title}, {length.rounds} rounds of {length.seconds:g} s\n")
    print(printed(rows, length.clients), flush=True)
    file = write(f"overhead-{workload.name}", _results(before, rows, length))
    print(f"\n{file}")
    return [f"{workload.name}: {miss}" for miss in missed(rows, length.clients)]


def _results(before: dict[str, object], rows: Sequence[Row], length: Length) -> dict[str, object]:
    return {
        "machine": before,
        "rounds": length.rounds,
        "seconds": length.seconds,
        "gateways": [row.as_json() for row in rows],
    }


def _told(progress: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{progress}", end="", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    names = list(known())
    parser.add_argument(
        "--gateways",
        nargs="+",
        choices=names,
        default=names,
        metavar="NAME",
        help=f"who takes part: {', '.join(names)}",
    )
    parser.add_argument(
        "--clients",
        nargs="+",
        type=int,
        default=[1, 16, 64],
        metavar="N",
        help="connections at a time (1 16 64)",
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement (5)")
    parser.add_argument("--rounds", type=int, default=3, help="times that each takes its turn (3)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

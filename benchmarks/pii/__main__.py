"""`python -m benchmarks.pii`: what is found, what is flagged wrongly, and how fast."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measured import machine, table, write
from benchmarks.pii import ours, presidio
from benchmarks.pii.corpus import Sample, read
from benchmarks.pii.figures import Figures, Timed, figures, lines
from benchmarks.pii.goals import missed


def main() -> int:
    """Measure, print and keep. Returns 1 with --check when a goal is missed, 2 without data."""
    asked = _arguments()
    before = machine()
    try:
        sets = read(asked.data)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    found = figures(sets, ours.look)
    timed = ours.timed(sets["ordinary_prompts"], asked.mixed)
    columns = {"Hybridge": lines(found, timed)}
    if asked.presidio:
        columns["Presidio, patterns only"] = _presidio(sets)
    _print(columns)
    print("\nslowest texts of 100 kB, ms: " + _slowest(timed))
    print("found of disguised values, with context: " + _disguises(found))
    print(f"\n{write('pii', {'machine': before, 'figures': columns, 'slowest': timed.slowest})}")
    misses = list(missed(found, timed))
    told = [f"MISSED  {miss}" for miss in misses] or ["every goal reached"]
    print("\n" + "\n".join(told))
    return 1 if asked.check and misses else 0


def _presidio(sets: Mapping[str, Sequence[Sample]]) -> dict[str, str]:
    return lines(figures(sets, presidio.look), presidio.timed(sets["ordinary_prompts"]))


def _print(columns: Mapping[str, Mapping[str, str]]) -> None:
    titles = list(next(iter(columns.values())))
    rows = [[title, *(column.get(title, "-") for column in columns.values())] for title in titles]
    print(table(["figure", *columns], rows))


def _slowest(timed: Timed) -> str:
    return ", ".join(f"{took_ms:.0f} {morsel!r}" for took_ms, morsel in timed.slowest)


def _disguises(found: Figures) -> str:
    parts = (f"{name} {hits} of {count}" for name, (hits, count) in found.disguises.items())
    return ", ".join(parts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pii", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the labelled texts")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument("--presidio", action="store_true", help="measure Presidio beside it")
    parser.add_argument(
        "--mixed", type=int, default=300, help="adversarial mixtures that are timed (300)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

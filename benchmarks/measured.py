"""What every benchmark needs: where it ran, percentiles, a table and a file of results."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """The machine as the results name it: processor, cores this process may use, load now."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "system": platform.platform(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0-1) of `values` do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that also reads well in a terminal; the first column is text."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_line(head, widths), f"| {' | '.join(rule)} |", *(_line(row, widths) for row in rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cells[0].ljust(widths[0])]
    padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join(padded)} |"


def write(name: str, results: Mapping[str, Any]) -> Path:
    """Keep `results` as JSON in the results folder; returns the file."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    file.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file

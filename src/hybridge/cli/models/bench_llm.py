"""`hybridge models bench` of a local LLM: the engines that can run it, in turns, in a table."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from hybridge.cli.options import print_json

if TYPE_CHECKING:
    from rich.table import Table

    from hybridge.edge.llm_bench import EngineTimed
    from hybridge.wiring.contest import Subject


def run(llm: Subject, genai: Path | None, seconds: float, *, as_json: bool) -> None:
    """Times the engines, prints what they took, and proposes the fastest."""
    from hybridge import wiring
    from hybridge.cli.progress import counting
    from hybridge.edge.llm_bench import TURNS, fastest, proposal, time_engines

    contest = wiring.contest_of(llm, genai)
    there = contest.contestants
    with counting("timing", TURNS * len(there)) as done:
        rows = asyncio.run(time_engines(there, seconds / len(there), done))
    best = fastest(rows)
    if as_json:
        told = {"rows": rows, "best": best, "proposal": proposal(best), "absent": contest.absent}
        print_json(told)
    else:
        _print(rows, best, contest.absent)


def _print(rows: list[EngineTimed], best: EngineTimed, absent: str | None) -> None:
    from rich.console import Console

    from hybridge.edge.llm_bench import proposal

    console = Console()
    console.print(_table(rows))
    console.print(_verdict(rows, best), soft_wrap=True, highlight=False)
    console.print(f"\nfor hybridge.yaml:\n\n{proposal(best)}", markup=False, soft_wrap=True)
    if absent is not None:
        console.print(f"ortgenai was not timed: {absent}", markup=False, soft_wrap=True)


def _table(rows: list[EngineTimed]) -> Table:
    from rich.table import Column, Table

    model = Column("model", overflow="fold")
    titles = ("load, s", "prefill tok/s", "decode tok/s", "memory")
    table = Table("engine", model, "threads", *titles, caption="medians; they took turns")
    for row in rows:
        memory = "-" if row.memory_bytes is None else f"{row.memory_bytes / 1e6:.0f} MB"
        paces = f"{row.prefill_tokens_per_s:.1f}", f"{row.decode_tokens_per_s:.1f}"
        name = Path(row.model).name
        table.add_row(row.engine, name, str(row.threads), f"{row.load_s:.2f}", *paces, memory)
    return table


def _verdict(rows: list[EngineTimed], best: EngineTimed) -> str:
    """Who is faster, and by how much."""
    from hybridge.edge.llm_bench import TYPICAL, fastest

    prompt, answer = TYPICAL
    said = f"fastest: {_settings(best)}, {best.typical_s:.1f} s for {prompt} tokens read and "
    said += f"{answer} written"
    if others := [row for row in rows if row.engine != best.engine]:
        other = fastest(others)
        times = other.typical_s / best.typical_s
        said += f"; {_settings(other)}, {other.typical_s:.1f} s ({times:.1f} times as long)"
    return said


def _settings(row: EngineTimed) -> str:
    return f"{row.engine} with {row.threads} thread{'s' if row.threads > 1 else ''}"

"""The demo's result, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

SHOWN = (
    "edge_rule",
    "edge_classified",
    "cloud_classified",
    "shadow",
    "cloud_escalated",
    "cloud_fallback",
    "edge_degraded",
    "direct",
)
"""The routes that a demo must have shown."""


@dataclass(frozen=True, slots=True)
class Row:
    """One request and what became of it; or only `note`, for what was done between requests."""

    note: str = ""
    prompt: str = ""
    stream: bool = False
    route: str = ""
    model: str = ""
    score: float | None = None
    confidence: float | None = None
    latency_ms: float = 0.0
    cost_usd: float | None = None
    saved_usd: float | None = None
    answer: str = ""
    why: str = ""
    error: str = ""


def missing_routes(rows: Sequence[Row]) -> list[str]:
    """Routes that no row shows."""
    seen = {row.route for row in rows}
    return [route for route in SHOWN if route not in seen]


def to_json(rows: Sequence[Row]) -> str:
    """All rows, as a JSON array."""
    return msgspec.json.encode(rows).decode()


def as_table(rows: Sequence[Row], *, stand_in: bool) -> None:
    """Prints the table, and what it is a table of."""
    table = Table(box=box.SIMPLE, pad_edge=False, expand=True)
    for name, ratio in (("request", 6), ("answer", 5), ("why", 6)):
        table.add_column(name, ratio=ratio, overflow="fold")
        if name == "request":
            table.add_column("route", no_wrap=True)
            for right in ("score", "conf", "ms", "USD", "saved"):
                table.add_column(right, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    console.print(table)
    console.print(_explanation(stand_in))


def _cells(row: Row) -> tuple[str, ...]:
    if row.note:
        return (f"[dim]-- {row.note} --[/]", "", "", "", "", "", "", "", "")
    mark = " [dim](stream)[/]" if row.stream else ""
    return (
        escape(row.prompt) + mark,
        f"[bold]{row.route or '-'}[/]",
        "-" if row.score is None else f"{row.score:.1f}",
        "-" if row.confidence is None else f"{row.confidence:.2f}",
        f"{row.latency_ms:.0f}",
        _money(row.cost_usd),
        _money(row.saved_usd),
        escape(row.answer or row.error),
        escape(row.why),
    )


def _money(value: float | None) -> str:
    return "-" if value is None else f"{Decimal(value):.6f}"


def _explanation(stand_in: bool) -> str:
    if not stand_in:
        return "USD is what each request cost, `saved` what the edge saved against the cloud."
    return (
        "The cloud in this demo is a [bold]stand-in[/]: Qwen2.5 0.5B on this machine, behind a "
        "real HTTP server with 200-800 ms of added latency; the edge is the same model in this "
        "process. USD is what the request would have cost at the price of gpt-4o, `saved` what "
        "the edge saved."
    )

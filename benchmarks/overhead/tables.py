"""What is printed, and whether the goals were reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.measured import table
from benchmarks.overhead.turns import Row

LITELLM_RATIO_MIN = 30.0
SWITCHYARD_RATIO_MIN = 1.0
ADDED_P50_MAX_US = 1000.0
"""At one client, over the same request sent straight to the upstream."""


def printed(rows: Sequence[Row], clients: Sequence[int]) -> str:
    """One line per gateway."""
    by_name = _by_name(rows)
    one = min(clients)
    head = ["gateway", *(f"req/s, {n}" for n in clients), "x LiteLLM", "x Switchyard"]
    head += [f"p50 ms, {one}", f"p99 ms, {one}", "p50 added ms"]
    head += [f"CPU µs/req, {max(clients)}", "RSS MiB", "threads", "faults"]
    return table(head, [_line(row, by_name, clients) for row in rows])


def _by_name(rows: Sequence[Row]) -> dict[str, Row]:
    return {row.started.gateway.name: row for row in rows}


def _line(row: Row, by_name: dict[str, Row], clients: Sequence[int]) -> list[str]:
    one, most = min(clients), max(clients)
    direct = by_name.get("direct")
    added = "" if direct in (None, row) else f"{_added_us(row, direct, one) / 1000:.2f}"
    return [
        row.started.gateway.title,
        *(f"{row.per_second(n):,.0f}" for n in clients),
        _ratios(row, by_name.get("litellm"), clients),
        _ratios(row, by_name.get("switchyard"), clients),
        f"{row.p50_us(one) / 1000:.2f}",
        f"{row.p99_us(one) / 1000:.2f}",
        added,
        f"{row.median(most, lambda turn: turn.cpu_us):,.0f}",
        f"{row.memory_mib():,.0f}",
        str(row.threads),
        str(row.faults()),
    ]


def _added_us(row: Row, direct: Row | None, clients: int) -> float:
    return row.p50_us(clients) - (direct.p50_us(clients) if direct else 0.0)


def _ratios(row: Row, other: Row | None, clients: Sequence[int]) -> str:
    return "" if other is None else " ".join(f"{_ratio(row, other, n):.1f}" for n in clients)


def _ratio(row: Row, other: Row, clients: int) -> float:
    return row.per_second(clients) / max(other.per_second(clients), 1e-9)


def missed(rows: Sequence[Row], clients: Sequence[int]) -> Iterator[str]:
    """The goals for Hybridge that this table does not show reached, each in words."""
    by_name = _by_name(rows)
    yield from (f"{row.started.gateway.name}: {row.faults()} faults" for row in rows if row.faults())
    ours = by_name.get("hybridge")
    if ours is None:
        return
    goals = (("litellm", LITELLM_RATIO_MIN), ("switchyard", SWITCHYARD_RATIO_MIN))
    for name, ratio_min in goals:
        peer = by_name.get(name)
        for n in clients if peer else ():
            if peer and (ratio := _ratio(ours, peer, n)) < ratio_min:
                yield f"{n} clients: {ratio:.1f} times the requests/s of {name}, not {ratio_min:g}"
    one = min(clients)
    if (direct := by_name.get("direct")) and _added_us(ours, direct, one) >= ADDED_P50_MAX_US:
        yield f"{_added_us(ours, direct, one) / 1000:.2f} ms added at the median, not under 1 ms"

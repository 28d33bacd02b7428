"""What is printed, and whether the goals were reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.measured import table
from benchmarks.overhead.turns import Row

LITELLM_RATIO_MIN = 30.0
SWITCHYARD_RATIO_MIN = 1.0
ADDED_P50_MAX_MS = 1.0
"""At one client, over the same request sent straight to the upstream."""


def printed(rows: Sequence[Row], clients: Sequence[int]) -> str:
    """Two tables, one line per gateway in each: how much it takes, and what a request costs."""
    return f"{_throughput(rows, clients)}\n\n{_cost(rows, clients)}"


def _throughput(rows: Sequence[Row], clients: Sequence[int]) -> str:
    by_name = _by_name(rows)
    peers = [(name, by_name[name]) for name in ("litellm", "switchyard") if name in by_name]
    head = ["requests/s", *(_clients(n) for n in clients), *(f"x {name}" for name, _ in peers)]
    lines = []
    for row in rows:
        rates = [f"{row.per_second(n):,.0f}" for n in clients]
        lines.append([_title(row), *rates, *(_ratios(row, peer, clients) for _, peer in peers)])
    return table(head, lines)


def _cost(rows: Sequence[Row], clients: Sequence[int]) -> str:
    one, most = min(clients), max(clients)
    direct = _by_name(rows).get("direct")
    head = [f"at {_clients(one)}", "p50 ms", "p99 ms", "p50 added ms"]
    head += [f"CPU µs/request, {_clients(most)}", "memory MiB", "threads"]
    lines = []
    for row in rows:
        added = "" if direct is None or row is direct else f"{_added_ms(row, direct, one):.2f}"
        cost = [f"{row.median(most, lambda turn: turn.cpu_us):,.0f}", f"{row.memory_mib():,.0f}"]
        latency = [f"{row.p50_us(one) / 1000:.2f}", f"{row.p99_us(one) / 1000:.2f}", added]
        lines.append([_title(row), *latency, *cost, str(row.threads)])
    return table(head, lines)


def _by_name(rows: Sequence[Row]) -> dict[str, Row]:
    return {row.started.gateway.name: row for row in rows}


def _title(row: Row) -> str:
    return row.started.gateway.title


def _clients(number: int) -> str:
    return "1 client" if number == 1 else f"{number} clients"


def _added_ms(row: Row, direct: Row, clients: int) -> float:
    return (row.p50_us(clients) - direct.p50_us(clients)) / 1000


def _ratios(row: Row, peer: Row, clients: Sequence[int]) -> str:
    return " / ".join(_times(_ratio(row, peer, n)) for n in clients)


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"


def _ratio(row: Row, peer: Row, clients: int) -> float | None:
    """None where the peer gave no answer at all in its time."""
    rate = peer.per_second(clients)
    return row.per_second(clients) / rate if rate else None


def missed(rows: Sequence[Row], clients: Sequence[int]) -> Iterator[str]:
    """What these rows do not show: complete answers only, and the goals for Hybridge."""
    by_name = _by_name(rows)
    yield from (
        f"{row.started.gateway.name}: {row.faults()} faults" for row in rows if row.faults()
    )
    ours = by_name.get("hybridge")
    if ours is None:
        yield "Hybridge was not measured"
        return
    for name, goal in (("litellm", LITELLM_RATIO_MIN), ("switchyard", SWITCHYARD_RATIO_MIN)):
        if name in by_name:
            yield from _behind(ours, by_name[name], goal, clients)
    if (direct := by_name.get("direct")) is not None:
        added_ms = _added_ms(ours, direct, min(clients))
        if added_ms >= ADDED_P50_MAX_MS:
            yield f"{added_ms:.2f} ms added at the median, not under {ADDED_P50_MAX_MS:g} ms"


def _behind(ours: Row, peer: Row, goal: float, clients: Sequence[int]) -> Iterator[str]:
    for n in clients:
        ratio = _ratio(ours, peer, n)
        if ratio is not None and ratio < goal:
            name = peer.started.gateway.name
            yield f"{_clients(n)}: {ratio:.2f} times the requests/s of {name}, not {goal:g}"

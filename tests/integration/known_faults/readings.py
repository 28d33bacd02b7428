"""What a started gateway tells of itself, as numbers."""

from __future__ import annotations

import asyncio
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any


async def total(gateway: Any, name: str, **labels: str) -> float:
    """The sum of a metric's series with these labels; 0 where there is none yet."""
    lines = (await gateway.get("/metrics")).raw.decode().splitlines()
    wanted = [f'{label}="{value}"' for label, value in labels.items()]
    series = (line for line in lines if line.startswith((f"{name}{{", f"{name} ")))
    return sum(float(s.rpartition(" ")[2]) for s in series if all(w in s for w in wanted))


async def becomes(gateway: Any, expected: float, name: str, **labels: str) -> None:
    """Returns once the sum is that: some things are counted after the answer's last byte."""
    async with asyncio.timeout(20):
        while await total(gateway, name, **labels) != expected:
            await asyncio.sleep(0.05)


def recorded(database: Path) -> list[dict[str, Any]]:
    """The records of all requests; to be read once the gateway has ended."""
    with sqlite3.connect(database) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("select * from decisions order by id")]


def money(rows: list[dict[str, Any]]) -> Decimal:
    """What the records say was spent, in USD; they hold billionths."""
    return sum((Decimal(row["cost_usd"] or 0) for row in rows), Decimal(0)) / 10**9

"""`python -m benchmarks.streams.gateway URL`: the gateway, and a census of what it holds.

A line on standard input asks for the census, which is one line of JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path

from hybridge import wiring
from hybridge.server.serve import Listener, run
from hybridge.settings import parse

_PAGE = os.sysconf("SC_PAGE_SIZE")


async def main(upstream: str) -> None:
    """Prints the port, then serves until standard input ends."""
    settings = parse(
        {
            "server": {"port": 0},
            "records": {"url": None},
            "edge": {"backends": []},
            "cloud": {
                "backends": [
                    {
                        "name": "up",
                        "base_url": upstream,
                        "model": "m",
                        "price": {"input_usd": 1, "output_usd": 1},
                    }
                ]
            },
            "budget": {"daily_usd": 1_000_000},
        },
        {},
    )
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with wiring.open_house(settings) as house, Listener(house.app, settings.server) as at:
        print(at.port, flush=True)
        while await lines.readline():
            print(json.dumps(_census(house)), flush=True)


def _census(house: wiring.House) -> dict[str, float]:
    gc.collect()
    metrics = {
        name: float(value)
        for line in house.metrics.render().decode().splitlines()
        if not line.startswith("#")
        for name, _, value in [line.rpartition(" ")]
    }
    return {
        "requests": len(house.app.drain),
        "tasks": len(asyncio.all_tasks()),
        "sockets": len(list(Path("/proc/self/fd").iterdir())),
        "reserved_usd": float(sum(spend.reserved for spend in house.ledger.status().spends)),
        "rss_mib": int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 2**20,
        "objects": len(gc.get_objects()),
        "served": sum(v for n, v in metrics.items() if n.startswith("hybridge_requests_total")),
    }


if __name__ == "__main__":
    run(main(sys.argv[1]))

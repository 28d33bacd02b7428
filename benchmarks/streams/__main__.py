"""`python -m benchmarks.streams`: a thousand streams at once; clients leave, upstreams break."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.measured import machine, table, write
from benchmarks.streams.clients import all_of
from benchmarks.streams.script import scripts

WARM_UP_S = 5.0
SETTLE_S = 3.0
MEMORY = 1.1
"""Of what it was after the warm-up, how much the gateway may hold at the end."""
Census = Mapping[str, float]


def main() -> int:
    """Measure, print and keep. Returns 1 with --check when something was not given back."""
    asked = _arguments()
    before, after, seen = asyncio.run(_run(asked))
    print(f"\n## {asked.streams} streams, one chunk a second each, {asked.seconds:g} s\n")
    print(table(("what", "count"), [(what, str(count)) for what, count in sorted(seen.items())]))
    print()
    names = list(before)
    rows = [(name, f"{before[name]:g}", f"{after[name]:g}") for name in names]
    print(table(("held by the gateway", "before", "after"), rows))
    found = _missed(before, after, seen)
    file = write("streams", {"machine": machine(), "seen": seen, "before": before, "after": after})
    print(f"\n{file}\n")
    print("\n".join(f"MISSED  {miss}" for miss in found) or "everything was given back")
    return 1 if asked.check and found else 0


async def _run(asked: argparse.Namespace) -> tuple[Census, Census, Counter[str]]:
    shares = {"breaking": asked.breaking, "leaving": asked.leaving}
    async with (
        _started("upstream") as (_, up),
        _started("gateway", f"http://127.0.0.1:{up}/v1") as (gateway, port),
    ):
        await all_of(port, scripts(asked.streams, WARM_UP_S, **shares))
        await asyncio.sleep(SETTLE_S)
        before = await _census(gateway)
        seen = await all_of(port, scripts(asked.streams, asked.seconds, **shares))
        await asyncio.sleep(SETTLE_S)
        return before, await _census(gateway), seen


@asynccontextmanager
async def _started(name: str, *arguments: str) -> AsyncIterator[tuple[Process, int]]:
    """A process of this benchmark, and the port that it listens on."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", f"benchmarks.streams.{name}", *arguments, stdin=PIPE, stdout=PIPE
    )
    try:
        yield process, int(await _line(process))
    finally:
        process.terminate()
        await process.wait()


async def _census(gateway: Process) -> Census:
    if gateway.stdin is None:
        raise RuntimeError("the gateway was started without a standard input")
    gateway.stdin.write(b"\n")
    counted: dict[str, Any] = json.loads(await _line(gateway))
    return counted


async def _line(process: Process) -> bytes:
    if process.stdout is None:
        raise RuntimeError("it was started without a standard output")
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError("it ended before it said anything")
    return line


def _missed(before: Census, after: Census, seen: Counter[str]) -> list[str]:
    found = [f"{count} x {what}" for what, count in seen.items() if what.startswith("FAULT")]
    found += [
        f"{name}: {after[name]:g} left" for name in ("requests", "reserved_usd") if after[name]
    ]
    found += [
        f"{name}: {before[name]:g} before, {after[name]:g} after"
        for name in ("tasks", "sockets")
        if after[name] > before[name]
    ]
    if after["rss_mib"] > MEMORY * before["rss_mib"]:
        found.append(f"memory: {before['rss_mib']:.0f} MiB before, {after['rss_mib']:.0f} after")
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="at once (1000)")
    parser.add_argument("--seconds", type=float, default=60.0, help="and chunks of each (60)")
    parser.add_argument("--breaking", type=float, default=0.05, help="share of upstreams (0.05)")
    parser.add_argument("--leaving", type=float, default=0.05, help="share of clients (0.05)")
    parser.add_argument("--check", action="store_true", help="exit 1 when something is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

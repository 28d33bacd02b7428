"""`python -m benchmarks.models`: versions of a local model are exchanged under steady load."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pyqwest import Client

from benchmarks.measured import machine, table, write
from benchmarks.models.gateway import Gateway, serving
from benchmarks.models.load import Seen, steadily, until
from hybridge.cli.loopback import loopback
from hybridge.testing.weights import tiny_gguf

BEFORE_S, AFTER_S = 2.0, 4.0
"""How long requests come before a step and after what it led to."""
BUSY_MS = 1000.0
"""A median from which on requests queue up, and are refused for that."""
Step = Callable[[Gateway, Seen], Awaitable[str]]
"""Does something to the versions; gives the one that must be in force at the end."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One line of the table."""

    what: str
    requests: int
    errors: int
    stale: int
    p50_ms: float
    p99_ms: float
    longest_ms: float
    kinds: tuple[str, ...]
    """What each error said."""
    switch_s: float | None
    """From the pointer's change to the first answer of the new version; None: nothing to change."""
    well: bool
    """Whether the version that had to be in force was, and the store agreed."""


def main() -> int:
    """Measure, print and keep. Returns 1 with --check when something was lost or stale."""
    asked = _arguments()
    with TemporaryDirectory() as folder:
        phases = asyncio.run(_run(asked, Path(folder)))
    print(f"\n## {asked.rate:g} requests/s, every other one a stream\n")
    head = ("step", "requests", "errors", "stale", "p50 ms", "p99 ms", "longest ms", "switch s", "")
    print(table(head, [_row(phase) for phase in phases]))
    kinds = Counter(error for phase in phases for error in phase.kinds)
    print("\n".join(f"{count} x {kind}" for kind, count in kinds.most_common(5)))
    if phases[0].p50_ms > BUSY_MS:
        print(f"\nThis machine cannot serve {asked.rate:g} requests/s even while nothing changes.")
    results = {"machine": machine(), "rate": asked.rate, "phases": [asdict(p) for p in phases]}
    print(f"\n{write('models', results)}\n")
    misses = [p.what for p in phases if p.errors or p.stale or not p.well]
    print("\n".join(f"MISSED  {what}" for what in misses) or "nothing lost, nothing stale")
    return 1 if asked.check and misses else 0


async def _run(asked: argparse.Namespace, folder: Path) -> list[Phase]:
    weights = [_weights(asked.gguf, folder, seed) for seed in range(1, 6)]
    async with serving(folder, weights[0], asked.context) as gateway:
        steps = _steps(weights, folder).items()
        return [await _measured(what, step, gateway, asked) for what, step in steps]


async def _measured(what: str, step: Step, gateway: Gateway, asked: argparse.Namespace) -> Phase:
    print(f"{what} ...", file=sys.stderr, flush=True)
    old = gateway.active
    async with steadily(Client(loopback()), gateway.url, asked.rate, asked.tokens) as seen:
        await asyncio.sleep(BEFORE_S)
        new, said = old, ""
        try:
            new = await step(gateway, seen)
        except RuntimeError as error:
            said = str(error)
            print(said, file=sys.stderr)
        if new != old:
            await until(lambda: seen.first(new) is not None)
        await asyncio.sleep(AFTER_S)
    first = seen.first(new) if new != old else None
    return Phase(
        what,
        seen.requests,
        len(seen.errors),
        seen.stale(new) if new != old else 0,
        seen.latency_ms(0.5),
        seen.latency_ms(0.99),
        seen.latency_ms(1.0),
        tuple(seen.errors),
        None if first is None else first - gateway.stepped_s(),
        not said and max(seen.answers, key=lambda one: one.begun_s).version == new,
    )


def _steps(weights: list[Path], folder: Path) -> dict[str, Step]:
    async def nothing(gateway: Gateway, _seen: Seen) -> str:
        return gateway.active

    async def activate(gateway: Gateway, _seen: Seen) -> str:
        version = await gateway.push(weights[1])
        await gateway.command("activate", "m", version)
        return version

    async def rollback(gateway: Gateway, _seen: Seen) -> str:
        await gateway.command("rollback", "m")
        return gateway.active

    async def canary(gateway: Gateway, seen: Seen) -> str:
        version = await gateway.push(weights[2])
        await gateway.command("activate", "m", version, "--canary", "0.1")
        await until(lambda: seen.first(version) is not None)
        await asyncio.sleep(AFTER_S)
        await gateway.command("rollback", "m")
        await asyncio.sleep(AFTER_S)
        return gateway.active

    async def corrupt(gateway: Gateway, _seen: Seen) -> str:
        version, before = await gateway.push(weights[3]), gateway.active
        gateway.corrupt(version)
        await gateway.command("activate", "m", version, fails="SHA-256")
        await gateway.refuses(version, before, "SHA-256")
        return before

    async def mute(gateway: Gateway, _seen: Seen) -> str:
        before = gateway.active
        version = await gateway.push(tiny_gguf(folder / "mute.gguf", 9, mute=True))
        await gateway.refuses(version, before, "failed its check")
        return before

    async def three(gateway: Gateway, _seen: Seen) -> str:
        version = await gateway.push(weights[4])
        await gateway.command("activate", "m", version)
        gateway.remain(3)
        return version

    return {
        "nothing": nothing,
        "activate": activate,
        "rollback": rollback,
        "canary of 10 %, withdrawn": canary,
        "activate a corrupt file": corrupt,
        "activate one that fails its check": mute,
        "activate; three versions remain": three,
    }


def _row(phase: Phase) -> tuple[str, ...]:
    switch = "" if phase.switch_s is None else f"{phase.switch_s:.1f}"
    times = (f"{ms:.0f}" for ms in (phase.p50_ms, phase.p99_ms, phase.longest_ms))
    counts = (str(phase.requests), str(phase.errors), str(phase.stale))
    return (phase.what, *counts, *times, switch, "as it should" if phase.well else "OTHERWISE")


def _weights(gguf: Path | None, folder: Path, seed: int) -> Path:
    """Another version for each seed: drawn anew, or real weights with a tail of their own."""
    path = folder / f"{seed}.gguf"
    if gguf is None:
        return tiny_gguf(path, seed)
    path.write_bytes(gguf.read_bytes() + bytes([seed]) * 32)
    return path


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.models", description=__doc__)
    parser.add_argument("--rate", type=float, default=50.0, help="requests a second")
    parser.add_argument("--tokens", type=int, default=4, help="of each answer")
    parser.add_argument("--gguf", type=Path, help="real weights; else small ones drawn at random")
    parser.add_argument("--context", type=int, default=512, help="tokens of a slot's context")
    parser.add_argument("--check", action="store_true", help="exit code 1 when something was lost")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.decision`: how long it takes to decide where a request runs."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from tokenizers import Tokenizer

from benchmarks.decision.crowd import (
    AT_ONCE,
    CROWD_HEAD,
    PATIENCE_S,
    Crowd,
    crowd,
    crowd_missed,
    crowd_rows,
)
from benchmarks.decision.encoders import encoder_of, head_for
from benchmarks.decision.goals import Row, far_beyond, missed
from benchmarks.decision.prompts import SENTENCES, Size, prompts, sizes
from benchmarks.decision.stages import Decision, alone, encoding
from benchmarks.decision.timing import Times, settle_down, time_stages
from benchmarks.measured import machine, table, write
from hybridge.edge.encoder import SCORER, Encoder
from hybridge.routing.config import RoutingConfig
from hybridge.routing.rules import Rules
from hybridge.routing.scorer import HeadScorer

THREADS = (1, 2)
CROWDED = ("16 tokens", "64 tokens", "128 tokens")
RUNS = 2
SHORT_MS = 1.0
"""A deadline that no encoding of a long prompt meets."""


def main() -> int:
    """Measure, print and keep. Returns 1 with --check when a goal is missed."""
    asked = _arguments()
    deadline_ms = RoutingConfig().score_timeout_ms
    before = machine()
    with ExitStack() as stack:
        encoders = {n: _encoder(stack, asked.encoder, n) for n in THREADS}
        crowds = asyncio.run(_crowds(asked, encoders[1]))
        if asked.serving:
            print(table(CROWD_HEAD, crowd_rows(crowds)))
            misses = [*crowd_missed(crowds)]
            return _verdict(misses, check=asked.check)
        figures = asyncio.run(_measure(asked.calls, deadline_ms, encoders))
        hurried = asyncio.run(_hurried(asked.calls, encoders[1]))
    _print(figures, hurried, deadline_ms)
    print("\nmany at once, each with a deadline of its own\n")
    print(table(CROWD_HEAD, crowd_rows(crowds)))
    results = _results(before, figures, hurried, deadline_ms)
    results["crowds"] = [
        {"size": size, "at_once": n, **seen.json()} for (size, n), seen in crowds.items()
    ]
    print(f"\n{write('decision', results)}")
    misses = [
        *missed(figures, deadline_ms),
        *far_beyond(hurried, SHORT_MS, "late encoder"),
        *crowd_missed(crowds),
    ]
    return _verdict(misses, check=asked.check)


def _verdict(misses: Sequence[str], *, check: bool) -> int:
    print(
        "\n" + "\n".join(f"MISSED  {miss}" for miss in misses) if misses else "\nevery goal reached"
    )
    return 1 if check and misses else 0


def _encoder(stack: ExitStack, folder: Path | None, threads: int, runs: int = 1) -> Encoder:
    encoder = encoder_of(folder, threads=threads, runs=runs)
    stack.callback(encoder.close)
    return encoder


async def _crowds(asked: argparse.Namespace, alone: Encoder) -> dict[tuple[str, int], Crowd]:
    """One at a time on one thread, several at once in as many runs as were asked for."""
    figures: dict[tuple[str, int], Crowd] = {}
    with ExitStack() as stack:
        several = _encoder(stack, asked.encoder, 1, asked.runs)
        settle_down()
        for size in (size for size in _sizes() if size.title in CROWDED):
            for at_once in AT_ONCE:
                _told(f"{size.title}, {at_once} at once")
                encoder = alone if at_once == 1 else several
                scorer = HeadScorer(head_for(encoder), encoder, timeout_s=PATIENCE_S)
                decision = Decision(Rules.load(), scorer)
                figures[size.title, at_once] = await crowd(decision, size, at_once, asked.seconds)
    _told("")
    return figures


async def _measure(
    calls: int, deadline_ms: float, encoders: Mapping[int, Encoder]
) -> dict[Row, dict[str, Times]]:
    rules, head = Rules.load(), head_for(encoders[1])
    groups = [{title: stage} for title, stage in alone(rules, head).items()]
    groups.append(encoding(rules, head, encoders, deadline_ms / 1000))
    settle_down()
    figures: dict[Row, dict[str, Times]] = {}
    for language in SENTENCES:
        for size in _sizes():
            _told(f"{language}, {size.title}")
            texts = list(islice(prompts(language, size), calls + 100))
            took: dict[str, Times] = {}
            for stages in groups:  # what is timed alone finds no one else's work in the caches
                took |= await time_stages(stages, iter(texts), calls)
            figures[language, size.title] = took
    _told("")
    return figures


async def _hurried(calls: int, encoder: Encoder) -> Times:
    """Whole decisions whose encoder is always late: the text head has to speak in time."""
    decision = Decision(
        Rules.load(), HeadScorer(head_for(encoder), encoder, timeout_s=SHORT_MS / 1000)
    )
    longest = _sizes()[-1]
    texts = islice(prompts("en", longest), calls + 100)
    return (await time_stages({"hurried": decision}, texts, calls))["hurried"]


def _sizes() -> tuple[Size, ...]:
    words = Tokenizer.from_file(str(SCORER / "tokenizer.json"))
    words.no_padding()
    words.no_truncation()
    return sizes(lambda text: len(words.encode(text).ids))


def _print(figures: Mapping[Row, Mapping[str, Times]], hurried: Times, deadline_ms: float) -> None:
    titles = list(next(iter(figures.values())))
    lines = [
        [f"{language}, {size}", *(str(times[title]) for title in titles)]
        for (language, size), times in figures.items()
    ]
    print("milliseconds: p50 / p95 / p99\n")
    print(table(["prompt", *titles], lines))
    slowest = max(times.at(1.0) for row in figures.values() for times in _whole(row))
    print(
        f"\nslowest whole decision: {slowest:.1f} ms; the scorer's deadline is {deadline_ms:g} ms"
    )
    print(f"with an encoder that is always late (deadline {SHORT_MS:g} ms, 4 kB): {hurried}")


def _whole(row: Mapping[str, Times]) -> Iterable[Times]:
    return (times for title, times in row.items() if title.startswith("whole"))


def _results(
    before: Mapping[str, object],
    figures: Mapping[Row, Mapping[str, Times]],
    hurried: Times,
    deadline_ms: float,
) -> dict[str, object]:
    rows = [
        {"language": language, "size": size, "stages": {t: _json(v) for t, v in times.items()}}
        for (language, size), times in figures.items()
    ]
    return {
        "machine": before,
        "deadline_ms": deadline_ms,
        "rows": rows,
        "late_encoder": {"deadline_ms": SHORT_MS, **_json(hurried)},
    }


def _json(times: Times) -> dict[str, float]:
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "max_ms": 1.0}
    return {"calls": len(times.calls_ms)} | {k: round(times.at(v), 4) for k, v in shares.items()}


def _told(progress: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{progress}", end="", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decision", description=__doc__)
    parser.add_argument(
        "--calls", type=int, default=200, help="of each stage per prompt size (200)"
    )
    parser.add_argument(
        "--encoder", type=Path, help="folder with encoder.onnx and tokenizer.json (the shipped one)"
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=RUNS,
        help=f"of the encoder at a time, for many at once ({RUNS})",
    )
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="of each size and number at once (3)"
    )
    parser.add_argument("--serving", action="store_true", help="many at once, and nothing else")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

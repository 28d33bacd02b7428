"""What the figures have to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.decision.timing import Times

RULES_MAX_MS = 0.2
"""Facts and rules, at the median, 128 tokens."""
TEXT_MAX_MS = 1.0
"""Features and n-grams, at the median, any length."""
FAST_MS = 8.0
"""A whole decision, alone, at 128 tokens on one thread, at the 99th percentile."""
PER_SECOND = 500
"""Decisions a second on two cores, of several at once."""
TOLERANCE_MS = 10.0
"""For the slowest of all, beyond the scorer's deadline: a turn of the scheduler, on a machine that
is not ours alone. At the 95th percentile there is none."""
REFERENCE = "128 tokens"

Row = tuple[str, str]
"""Language and size."""


def missed(figures: Mapping[Row, Mapping[str, Times]], deadline_ms: float) -> Iterator[str]:
    """The goals that are not reached, each in words."""
    for (language, size), times in figures.items():
        where = f"{language}, {size}"
        yield from _slower(times, "features + n-grams", TEXT_MAX_MS, where)
        if size == REFERENCE:
            yield from _slower(times, "facts + rules", RULES_MAX_MS, where)
        for title in times:
            if title.startswith("whole"):
                yield from late(times[title], deadline_ms, f"{where}: {title}")


def _slower(times: Mapping[str, Times], title: str, bound_ms: float, where: str) -> Iterator[str]:
    median_ms = times[title].at(0.5)
    if median_ms >= bound_ms:
        yield f"{where}: {title}: {median_ms:.2f} ms, not under {bound_ms:g} ms"


def late(times: Times, deadline_ms: float, what: str) -> Iterator[str]:
    """Decisions that came after their deadline."""
    if times.at(0.95) > deadline_ms:
        yield f"{what}: {times.at(0.95):.1f} ms at the 95th percentile, above {deadline_ms:g} ms"
    yield from far_beyond(times, deadline_ms, what)


def far_beyond(times: Times, deadline_ms: float, what: str) -> Iterator[str]:
    """Those that came later than a turn of the scheduler explains."""
    bound_ms = deadline_ms + TOLERANCE_MS
    over = sum(call_ms > bound_ms for call_ms in times.calls_ms)
    if over:
        slowest = times.at(1.0)
        yield f"{what}: {over} calls above {bound_ms:g} ms, the slowest took {slowest:.1f} ms"

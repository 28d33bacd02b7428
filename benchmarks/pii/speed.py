"""How long looking takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.measured import percentile
from benchmarks.pii.adversarial import SIZE, texts
from benchmarks.pii.corpus import Sample

BYTES = 1000
Look = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Times:
    """Of many texts, each in milliseconds."""

    each_ms: Sequence[float]

    def at(self, share: float) -> float:
        """A percentile; `share` is 0-1."""
        return percentile(self.each_ms, share)


def kilobytes(samples: Sequence[Sample], language: str, most: int = 300) -> list[str]:
    """Texts of 1 kB in UTF-8 each, cut from the samples of one language in a row."""
    whole = "\n".join(sample.text for sample in samples if sample.lang == language).encode()
    cuts = range(0, min(len(whole) - BYTES, most * BYTES), BYTES)
    return [whole[cut : cut + BYTES].decode(errors="ignore") for cut in cuts]


def time_each(look: Look, samples: Sequence[str], tries: int = 3) -> Times:
    """The best of so many tries for each text: what else the machine does is not of interest."""
    return Times([min(_once_ms(look, text) for _ in range(tries)) for text in samples])


def slowest(look: Look, mixed: int, suspicious_ms: float) -> list[tuple[float, str]]:
    """The worst of the adversarial texts, as processor time; those that look slow again."""
    took = []
    for name, text in texts(mixed):
        best_ms = _processor_ms(look, text)
        for _ in range(9):
            if best_ms <= suspicious_ms:
                break
            best_ms = min(best_ms, _processor_ms(look, text))
        took.append((best_ms * SIZE / len(text), name))
    return sorted(took, reverse=True)[:10]


def _once_ms(look: Look, text: str) -> float:
    started_s = time.perf_counter()
    look(text)
    return 1000 * (time.perf_counter() - started_s)


def _processor_ms(look: Look, text: str) -> float:
    started_s = time.thread_time()
    look(text)
    return 1000 * (time.thread_time() - started_s)

"""What the figures have to be."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.pii.figures import Figures, Timed

GENERATED = ("gen_zh", "gen_en")
RECALL = PRECISION = 0.99
"""Of structured types in generated texts."""
OTHERS_F1 = 0.88
"""Of structured types in Presidio's own synthetic texts."""
DISGUISED_RECALL = 0.85
"""With words around the value."""
ORDINARY_FLAGGED = 6.0
"""Per 1,000 ordinary prompts."""
TRICKY_FLAGGED = 0.08
KILOBYTE_MS = 1.0
"""At the median, in each language."""
WORST_MS = 50.0
"""For 100 kB of anything, on one core."""


def missed(figures: Figures, timed: Timed) -> Iterator[str]:
    """The goals that are not reached, each in words."""
    for name in GENERATED:
        together = figures.scores[name].structured
        yield from _low(f"{name}: recall", together.recall, RECALL)
        yield from _low(f"{name}: precision", together.precision, PRECISION)
    yield from _low(
        "presidio_synth_en: F1", figures.scores["presidio_synth_en"].structured.f1, OTHERS_F1
    )
    yield from _low("disguised, with context: recall", figures.disguised[True], DISGUISED_RECALL)
    yield from _high("ordinary prompts flagged per 1,000", figures.ordinary, ORDINARY_FLAGGED)
    yield from _high("look-alikes flagged", figures.tricky, TRICKY_FLAGGED)
    for language, times in timed.kilobyte.items():
        if times.at(0.5) >= KILOBYTE_MS:
            yield f"{language}: 1 kB takes {times.at(0.5):.2f} ms, not under {KILOBYTE_MS:g} ms"
    for worst_ms, morsel in timed.slowest:
        yield from _high(f"100 kB of {morsel!r} in ms", worst_ms, WORST_MS)


def _low(what: str, figure: float, bound: float) -> Iterator[str]:
    if figure < bound:
        yield f"{what}: {figure:.3f}, below {bound:g}"


def _high(what: str, figure: float, bound: float) -> Iterator[str]:
    if figure > bound:
        yield f"{what}: {figure:.3g}, above {bound:g}"

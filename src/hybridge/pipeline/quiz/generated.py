"""Every kind of question that code makes up, and how many of each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from hybridge.pipeline.quiz import (
    arithmetic,
    chances,
    chinese_numerals,
    clock,
    code_reading,
    comparing,
    conversions,
    copying,
    counting,
    dates,
    edits,
    extraction,
    formats,
    fractions,
    geometry,
    lists,
    logic,
    numerals,
    queries,
    rounding,
    sequences,
    tables,
    word_problems,
)
from hybridge.pipeline.quiz.question import Question
from hybridge.pipeline.quiz.wording import LANGUAGES

Draw = Callable[[random.Random], Iterator[Question]]
KINDS: Mapping[str, tuple[Draw, int]] = {
    arithmetic.KIND: (arithmetic.questions, 70),
    chances.KIND: (chances.questions, 20),
    chinese_numerals.KIND: (chinese_numerals.questions, 35),
    clock.KIND: (clock.questions, 40),
    code_reading.KIND: (code_reading.questions, 50),
    comparing.KIND: (comparing.questions, 60),
    conversions.KIND: (conversions.questions, 50),
    copying.KIND: (copying.questions, 90),
    counting.KIND: (counting.questions, 40),
    dates.KIND: (dates.questions, 55),
    edits.KIND: (edits.questions, 75),
    extraction.KIND: (extraction.questions, 130),
    formats.KIND: (formats.questions, 110),
    fractions.KIND: (fractions.questions, 45),
    geometry.KIND: (geometry.questions, 35),
    lists.KIND: (lists.questions, 65),
    logic.KIND: (logic.questions, 60),
    numerals.KIND: (numerals.questions, 35),
    queries.KIND: (queries.questions, 40),
    rounding.KIND: (rounding.questions, 35),
    sequences.KIND: (sequences.questions, 35),
    tables.KIND: (tables.questions, 70),
    word_problems.KIND: (word_problems.questions, 70),
}
"""What draws a kind, without end, and how many of it there are in each language."""


def questions(seed: int) -> Iterator[Question]:
    """All of them, the same for the same seed; no two with the same text."""
    for kind, (draw, count) in KINDS.items():
        yield from few(draw, random.Random(f"{seed} {kind}"), count)  # noqa: S311 (no secret)


def few(draw: Draw, rng: random.Random, count: int) -> Iterator[Question]:
    """So many in each language, as they come, no text twice."""
    left, seen = dict.fromkeys(LANGUAGES, count), set[str]()
    for question in draw(rng):
        if left[question.language] and question.text not in seen:
            seen.add(question.text)
            left[question.language] -= 1
            yield question
        if not any(left.values()):
            return

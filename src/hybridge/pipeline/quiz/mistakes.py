"""Spelling and grammar: a correct sentence with a mistake put into it, to be corrected."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz import asked
from hybridge.pipeline.quiz.checks import Holds
from hybridge.pipeline.quiz.items import Section, spellings, spread, table
from hybridge.pipeline.quiz.question import Language, Question

APART = {"doesn't": "does not", "don't": "do not", "haven't": "have not"}


def spelling(rng: random.Random) -> Iterator[Question]:
    """Misspelt words, and Chinese characters mistaken for others (错别字)."""
    for language in asked.LANGUAGES:
        yield from _of("spelling", language, table("spelling")[language], rng)


def grammar(rng: random.Random) -> Iterator[Question]:
    """English agreement, tense and prepositions; Chinese 的/地/得 and linking words."""
    sections = table("grammar")
    yield from _of("grammar", "en", sections["en"], rng)
    for name in ("zh de", "zh linking"):
        yield from asked.of("grammar", "zh", sections[name], rng)


def _of(kind: str, language: Language, section: Section, rng: random.Random) -> Iterator[Question]:
    times = int(section.options["times"])
    for (right, pairs, *more), wording in spread(rng, section.rows, section.wordings, times):
        wrong = right
        for pair in pairs.split(","):
            before, _, after = pair.partition(">")
            wrong = wrong.replace(before, after, 1)
        yield Question(
            text=wording.format(wrong),
            language=language,
            kind=kind,
            topic=right,
            check=Holds(any_of=_variants(right, *more), times=2),
            max_tokens=int(section.options["tokens"]),
        )


def _variants(right: str, more: str = "") -> tuple[str, ...]:
    """The sentence, one with a contraction written out or the other way round, other good ones."""
    others = [right.replace(one, other) for one, other in APART.items() if one in right]
    return (right, *others, *(spellings(more) if more else ()))

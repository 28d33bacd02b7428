"""Multiple choice: one right answer under four letters."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Choice
from hybridge.pipeline.quiz.items import Row, spellings, table
from hybridge.pipeline.quiz.question import Language, Question

CAPITALS: dict[Language, str] = {"en": "What is the capital of {}?", "zh": "{}的首都是哪里？"}


def questions(rng: random.Random) -> Iterator[Question]:
    """Written ones, and capitals among others of the same continent."""
    languages: tuple[Language, ...] = ("en", "zh")
    for language in languages:
        ways = table("choice")[language].wordings
        for row in (*table("choice")[language].rows, *_capitals(language, rng)):
            yield _one(language, row, rng.choice(ways), rng)


def _capitals(language: Language, rng: random.Random) -> Iterator[Row]:
    rows, cell = table("countries")["all"].rows, int(language == "zh")
    for row in rng.sample(rows, 36):
        near = [other for other in rows if other[5] == row[5] != "-" and other != row]
        if len(near) < 3:
            continue
        cities = [spellings(one[3 + cell])[0] for one in (row, *rng.sample(near, 3))]
        yield (CAPITALS[language].format(row[1 + cell]), *cities, row[0])


def _one(language: Language, row: Row, wording: str, rng: random.Random) -> Question:
    asked, right, *others = row[:5]
    words = rng.sample([right, *others], 4)
    options = [f"{letter}. {word}" for letter, word in zip("ABCD", words, strict=True)]
    joined = (" " if rng.random() < 0.3 else "\n").join(options)
    return Question(
        text=wording.format(asked, joined).replace("\\n", "\n"),
        language=language,
        kind="choice",
        topic=row[5] if len(row) > 5 else asked,
        check=Choice(letter="ABCD"[words.index(right)], words=right),
        max_tokens=20,
    )

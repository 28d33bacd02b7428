"""Opinions put together from phrases: clear, ironic, mixed and neutral ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Label
from hybridge.pipeline.quiz.items import Section, table
from hybridge.pipeline.quiz.question import Language, Question

NAMES: dict[Language, dict[str, str]] = {
    "en": {"positive": "positive", "negative": "negative", "neutral": "neutral"},
    "zh": {"positive": "正面", "negative": "负面", "neutral": "中性"},
}


def questions(rng: random.Random) -> Iterator[Question]:
    """Each phrase twice with a thing it fits; about a third ask for three labels."""
    sections = table("sentiment")
    for language, names in NAMES.items():
        for label in names:
            yield from _of(language, label, sections, rng)


def _of(
    language: Language, label: str, sections: dict[str, Section], rng: random.Random
) -> Iterator[Question]:
    things, names = sections[f"{language} things"].rows, NAMES[language]
    for phrase, *_ in sections[f"{language} {label}"].rows * 2:
        three = label == "neutral" or rng.random() < 0.2
        ask = sections[f"{language} {'three' if three else 'two'}"].wordings
        text = phrase.replace("@", rng.choice(things)[0])
        others = [
            name for key, name in names.items() if key != label and (three or key != "neutral")
        ]
        yield Question(
            text=rng.choice(ask).format(text[0].upper() + text[1:]).replace("\\n", "\n"),
            language=language,
            kind="sentiment",
            topic=phrase,
            check=Label(label=names[label], others=tuple(others)),
            max_tokens=8,
        )

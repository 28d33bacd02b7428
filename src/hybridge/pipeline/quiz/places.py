"""Countries: capital, continent and currency, both ways round."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import SENTENCE, Check, Holds, Label
from hybridge.pipeline.quiz.items import Row, spellings, table
from hybridge.pipeline.quiz.question import Language, Question

_CONTINENTS = {
    "en": ("Asia", "Europe", "Africa", "North America", "South America", "Oceania"),
    "zh": ("亚洲", "欧洲", "非洲", "北美洲", "南美洲", "大洋洲"),
}


def capitals(rng: random.Random) -> Iterator[Question]:
    """The capital of a country, or the country of a capital (one in five)."""
    for language, row, cell in _each():
        turned = rng.random() < 0.2
        name, city = row[1 + cell], spellings(row[3 + cell])
        ways = table("places")[f"{language} {'country' if turned else 'capital'}"].wordings
        text = rng.choice(ways).format(city[0] if turned else name)
        check = Holds(any_of=_names(name) if turned else city, room=SENTENCE)
        yield _question(text, language, "capitals", row[0], check)


def continents(rng: random.Random) -> Iterator[Question]:
    """On which continent a country lies; those on two are left out."""
    for language, row, cell in _each():
        answers = spellings(row[5 + cell])
        if answers[0] == "-" or rng.random() < 0.45:
            continue
        others = tuple(one for one in _CONTINENTS[language] if one not in answers)
        check: Check = Label(label=answers[0], others=others)
        if row[5] in {"North America", "South America"} or len(answers) > 1:
            check = Holds(any_of=answers, none_of=others, room=SENTENCE)
        text = rng.choice(table("places")[f"{language} continent"].wordings).format(row[1 + cell])
        yield _question(text, language, "continents", row[0], check)


def currencies(rng: random.Random) -> Iterator[Question]:
    """What is paid with in a country."""
    for language, row, cell in _each():
        if row[0] in {"ZW", "LB", "BG", "CU"} or rng.random() < 0.3:
            continue  # more than one in use, or changed of late
        text = rng.choice(table("places")[f"{language} currency"].wordings).format(row[1 + cell])
        check = Holds(any_of=spellings(row[7 + cell]), room=SENTENCE)
        yield _question(text, language, "currencies", row[0], check)


def _each() -> Iterator[tuple[Language, Row, int]]:
    for row in table("countries")["all"].rows:
        yield "en", row, 0
        yield "zh", row, 1


def _names(name: str) -> tuple[str, ...]:
    return (name, "Turkey") if name == "Türkiye" else (name,)


def _question(text: str, language: Language, kind: str, topic: str, check: Check) -> Question:
    return Question(
        text=text.replace("\\n", "\n"),
        language=language,
        kind=kind,
        topic=topic,
        check=check,
        max_tokens=20,
    )

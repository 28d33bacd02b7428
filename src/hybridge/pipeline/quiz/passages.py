"""Reading, entailment and coreference: short passages from templates, with names drawn for them.

A row is passage, question, answer. Slots: names a b c (all of one sex), their pronouns s o, places
p q, things t u, numbers n > m > k, a day d. An answer is a slot or words, `yes`, `no`, `=` and a
sum of slots, or `a<b c` where the answer has to be named before b and c.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Check, Holds, Label, Number, YesNo
from hybridge.pipeline.quiz.items import Row, Section, spellings, table
from hybridge.pipeline.quiz.question import Language, Question

_PRONOUNS = {
    ("en", "f"): ("she", "her"),
    ("en", "m"): ("he", "him"),
    ("zh", "f"): ("她", "她"),
    ("zh", "m"): ("他", "他"),
}


def questions(kind: str, rng: random.Random) -> Iterator[Question]:
    """The passages of `rows/KIND.txt`, each drawn `times` times."""
    for name, part in table(kind).items():
        language: Language = "zh" if name.startswith("zh") else "en"
        pools = table("people")
        for row in part.rows:
            for wording in _wordings(part, row, rng):
                slots = _draw(pools, language, rng)
                passage, asked = (cell.format(**slots) for cell in row[:2])
                yield Question(
                    text=wording.format(passage, asked).replace("\\n", "\n"),
                    language=language,
                    kind=kind,
                    topic=row[0] if len(row) < 4 else row[3],
                    check=_check(row[2], slots),
                    max_tokens=20,
                )


def _wordings(part: Section, row: Row, rng: random.Random) -> list[str]:
    """Different ones, so many as the section asks for; one where nothing is drawn."""
    times = int(part.options["times"]) if "{" in row[0] + row[1] else 1
    return rng.sample(part.wordings, min(times, len(part.wordings)))


def _draw(pools: dict[str, Section], language: Language, rng: random.Random) -> dict[str, str]:
    def some(pool: str, count: int, sort: str = "") -> list[str]:
        rows = [row for row in pools[f"{language} {pool}"].rows if sort in row or not sort]
        return [row[0] for row in rng.sample(rows, count)]

    sort = rng.choice("fm")
    values = [*some("names", 3, sort), *some("places", 2), *some("things", 2), *some("days", 1)]
    values += map(str, sorted(rng.sample(range(3, 40), 3), reverse=True))
    return dict(zip("abcpqtudnmkso", [*values, *_PRONOUNS[language, sort]], strict=True))


def _check(answer: str, slots: dict[str, str]) -> Check:
    if answer in {"yes", "no"}:
        return YesNo(yes=answer == "yes")
    if answer.startswith("="):
        return Number(value=sum(_term(term, slots) for term in answer[1:].split()))
    right, _, others = answer.partition("<")
    if others:
        return Label(
            label=slots.get(right, right),
            others=tuple(slots.get(one, one) for one in others.split()),
        )
    return Holds(any_of=tuple(slots.get(one, one) for one in spellings(right)))


def _term(term: str, slots: dict[str, str]) -> int:
    sign = -1 if term.startswith("-") else 1
    name = term.lstrip("-+")
    return sign * int(slots.get(name, name))

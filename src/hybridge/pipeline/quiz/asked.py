"""Questions straight from tables: an item, a wording, and the answers that are right.

The first cell of a row is the item, the second the answers, a third the topic where the two
languages share one. `check` in a section's options says how answers are compared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import SENTENCE, Check, Exact, Holds, Label, YesNo
from hybridge.pipeline.quiz.items import Row, Section, spellings, spread, table
from hybridge.pipeline.quiz.question import Language, Question

LANGUAGES: tuple[Language, ...] = ("en", "zh")


def questions(kind: str, rng: random.Random) -> Iterator[Question]:
    """The questions of the table of this name; each row is asked `times` times."""
    for name, section in table(kind).items():
        language: Language = "zh" if name.startswith("zh") else "en"
        yield from of(kind, language, section, rng)


def check_for(row: Row, options: dict[str, str]) -> Check:
    """How answers to this row are told right from wrong."""
    way, answers = options["check"], spellings(row[1])
    if way == "label":
        labels = options["labels"].replace("_", " ").split(",")
        return Label(label=answers[0], others=tuple(one for one in labels if one != answers[0]))
    if way == "yesno":
        return YesNo(yes=answers[0] == "yes")
    if way == "measure":
        forms = ("{0}", "一{0}", "{0}{1}", "一{0}{1}")
        return Exact(any_of=tuple(f.format(one, row[0]) for one in answers for f in forms))
    return Exact(any_of=answers) if way == "exact" else Holds(any_of=answers, room=SENTENCE)


def of(kind: str, language: Language, section: Section, rng: random.Random) -> Iterator[Question]:
    options, times = section.options, int(section.options.get("times", "1"))
    for row, wording in spread(rng, section.rows, section.wordings, times):
        yield Question(
            text=wording.format(*row),
            language=language,
            kind=kind,
            topic=row[2] if len(row) > 2 else row[0],
            check=check_for(row, options),
            max_tokens=int(options["tokens"]),
        )

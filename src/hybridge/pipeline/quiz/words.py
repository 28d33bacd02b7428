"""Single words: translation, classical poems, characters, pinyin, odd one out, keyword picking."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hybridge.pipeline.quiz.checks import Check, Exact, Holds, Label, Listed
from hybridge.pipeline.quiz.items import Section, spellings, table
from hybridge.pipeline.quiz.question import Language, Question


def translation(rng: random.Random) -> Iterator[Question]:
    """Words both ways and asked in both languages; short phrases."""
    parts = table("translation")
    for english, chinese, *more in parts["words"].rows:
        topic, hans = english, spellings(chinese)
        word = english.split(" (")[0]
        into_english = (word, f"{word}s", f"{word}es", *(spellings(more[0]) if more else ()))
        yield _one("translation", "en", topic, parts["words en"], [english], hans, rng)
        yield _one("translation", "zh", topic, parts["words zh"], [hans[0]], into_english, rng)
        if rng.random() < 0.3:
            yield _one(
                "translation", "en", topic, parts["reverse en"], [hans[0]], into_english, rng
            )
        if rng.random() < 0.3:
            yield _one("translation", "zh", topic, parts["reverse zh"], [english], hans, rng)
    for way in ("en", "zh"):
        language: Language = "zh" if way == "zh" else "en"
        for phrase, answers in parts[f"{way} phrases"].rows:
            ask = parts[f"words {way}"]
            ways = Section(
                (), tuple(w for w in ask.wordings if "word" not in w and "词" not in w), {}
            )
            yield _one("translation", language, phrase, ways, [phrase], spellings(answers), rng)


def poems(rng: random.Random) -> Iterator[Question]:
    """The next line, or the poet."""
    parts = table("poems")
    for row in parts["zh"].rows:
        yield _one("poems", "zh", row[3], parts["line"], row, (row[1],), rng)
        if rng.random() < 0.6:
            answers = {"陶渊明": ("陶渊明", "陶潜"), "郑燮": ("郑燮", "郑板桥")}.get(
                row[2], (row[2],)
            )
            yield _one("poems", "zh", row[3], parts["author"], row, answers, rng)


def characters(rng: random.Random) -> Iterator[Question]:
    """Traditional characters to simplified ones, words and short sentences."""
    parts = table("characters")
    for traditional, simplified in parts["pairs"].rows:
        yield _one("characters", "zh", simplified, parts["zh"], [traditional], (simplified,), rng)
    for traditional, simplified in parts["back"].rows:
        yield _one(
            "characters", "zh", simplified, parts["zh back"], [simplified], (traditional,), rng
        )


def pinyin(rng: random.Random) -> Iterator[Question]:
    """Which of four characters sounds like another; words from their pinyin."""
    parts = table("pinyin")
    for sound, same, *others in parts["homophones"].rows:
        yield from _pick("pinyin", "zh", sound, same, others, parts["homophones"], rng)
    for spelt, word in parts["read"].rows:
        yield _one("pinyin", "zh", word, parts["read"], [spelt], spellings(word), rng)


def odd_one_out(rng: random.Random) -> Iterator[Question]:
    """Three of a sort and one that is not."""
    yield from _groups("odd_one_out", rng)


def keyword(rng: random.Random) -> Iterator[Question]:
    """Which of four words is of the sort, means the same, or is asked for."""
    yield from _groups("keyword", rng)


def synonyms(rng: random.Random) -> Iterator[Question]:
    """Which of four words means nearly the same as another."""
    yield from _groups("synonyms", rng)


def sorted_words(rng: random.Random) -> Iterator[Question]:
    """All words of a sentence that are of one sort, in their order."""
    for name, part in table("sorted_words").items():
        language: Language = "zh" if name.startswith("zh") else "en"
        for text, wanted in part.rows:
            yield Question(
                text=_fill(rng.choice(part.wordings), [text]),
                language=language,
                kind="sorted_words",
                topic=text,
                check=Listed(items=tuple(spellings(wanted)), ordered=False),
                max_tokens=24,
            )


def echo(rng: random.Random) -> Iterator[Question]:
    """Short chat with one thing to be said."""
    for name, part in table("echo").items():
        language: Language = "zh" if name.startswith("zh") else "en"
        for said, *_ in part.rows:
            ask = rng.choice(part.wordings)
            yield Question(_fill(ask, [said]), language, "echo", said, Exact((said,)), 12)


def _groups(kind: str, rng: random.Random) -> Iterator[Question]:
    """Rows of an asked word, the right word and three others."""
    for name, part in table(kind).items():
        language: Language = "zh" if name.startswith("zh") else "en"
        for asked, right, *others in part.rows:
            yield from _pick(kind, language, asked, right, others, part, rng)


def _pick(
    kind: str,
    language: Language,
    asked: str,
    right: str,
    others: list[str],
    part: Section,
    rng: random.Random,
) -> Iterator[Question]:
    words = rng.sample([right, *others], len(others) + 1)
    joined = ("、" if language == "zh" else ", ").join(words)
    yield Question(
        text=_fill(rng.choice(part.wordings), [asked, joined]),
        language=language,
        kind=kind,
        topic=f"{asked} {right}",
        check=Label(label=right, others=tuple(others)),
        max_tokens=10,
    )


def _one(
    kind: str,
    language: Language,
    topic: str,
    part: Section,
    cells: list[str] | tuple[str, ...],
    answers: tuple[str, ...],
    rng: random.Random,
) -> Question:
    check: Check = Holds(any_of=answers)
    return Question(_fill(rng.choice(part.wordings), cells), language, kind, topic, check, 20)


def _fill(wording: str, cells: list[str] | tuple[str, ...]) -> str:
    return wording.format(*cells).replace("\\n", "\n")

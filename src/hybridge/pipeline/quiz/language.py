"""The kinds of language questions, and what makes the questions of each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

from hybridge.pipeline.quiz import asked, choice, mistakes, passages, places, sentiment, words
from hybridge.pipeline.quiz.question import Question

Source = Callable[[random.Random], Iterator[Question]]

_ASKED = (
    "abbreviations", "antonyms", "category", "cloze", "definition", "emotion", "facts",
    "formality", "forms", "idioms", "intent", "language_id", "measure_words", "news_topic",
    "proverbs", "spam", "urgency", "yesno",
)  # fmt: skip
_PASSAGES = ("coreference", "entailment", "reading")

KINDS: dict[str, Source] = {
    **{kind: partial(asked.questions, kind) for kind in _ASKED},
    **{kind: partial(passages.questions, kind) for kind in _PASSAGES},
    "capitals": places.capitals,
    "characters": words.characters,
    "choice": choice.questions,
    "continents": places.continents,
    "currencies": places.currencies,
    "echo": words.echo,
    "grammar": mistakes.grammar,
    "keyword": words.keyword,
    "odd_one_out": words.odd_one_out,
    "pinyin": words.pinyin,
    "poems": words.poems,
    "sentiment": sentiment.questions,
    "sorted_words": words.sorted_words,
    "spelling": mistakes.spelling,
    "synonyms": words.synonyms,
    "translation": words.translation,
}


def questions(seed: int) -> Iterator[Question]:
    """All of them, kind after kind; the same for the same seed, and no text twice."""
    seen: set[str] = set()
    for kind, source in KINDS.items():
        for question in source(random.Random(f"{seed} {kind}")):  # noqa: S311 (nothing secret)
            if question.text not in seen:
                seen.add(question.text)
                yield question

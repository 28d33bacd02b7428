"""How a prompt is built: its question and its options, its sentences, its marks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from hybridge.learning.lexicon import variety

_OPTION = re.compile(r"\n[ \t]*\(?[A-J][.)、:][ \t]*")
_SENTENCE_END = re.compile(r"[.!?。！？\n]+")
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_NUMERIC = re.compile(r"[-$0-9.,/ ]+")
_BRACKET = re.compile(r"[(\[{)\]}]")
_NAME = re.compile(r"\b[A-Z][a-z]+")
_MARKS = (",，", ":：", ";；", "-", "'")
_USUAL_WORDS = 5
"""As if a text had so many more words: two words tell nothing."""

SHAPE = (
    ("log_stem", "long question", "short question"),
    ("log_option", "long answers to choose from", ""),
    ("option_spread", "answers of different length", ""),
    ("numeric_options", "numbers to choose from", ""),
    ("log_longest_sentence", "a long sentence", "short sentences"),
    ("log_mean_sentence", "long sentences", "short sentences"),
    ("log_last_sentence", "a long last sentence", "a short last sentence"),
    ("compressed", "varied text", "repetitive text"),
    ("bracket_depth", "nested brackets", ""),
    ("log_commas", "many commas", "few commas"),
    ("log_colons", "colons", ""),
    ("log_semicolons", "semicolons", ""),
    ("log_hyphens", "hyphens", ""),
    ("log_apostrophes", "apostrophes", ""),
    ("name_share", "names", "no names"),
    ("log_distinct_numbers", "many different numbers", "few numbers"),
    ("numbers_per_word", "many numbers", "few numbers"),
    ("log_stem_numbers", "numbers in the question", ""),
    ("single_words", "words that are said once", "words that are repeated"),
    ("longest_word", "a long word", ""),
    ("upper_start", "begins with a capital", "begins without a capital"),
)
"""Name, and what a high and a low value mean; empty where it is not worth a word."""


def structure(text: str, words: int, counted: Mapping[str, int]) -> list[float]:
    """In the order of `SHAPE`. `words`: how many Latin words; `counted`: how often each occurs."""
    stem, *options = _OPTION.split(f"\n{text}")
    numbers = _NUMBER.findall(text)
    sentences = [len(piece) for piece in _SENTENCE_END.split(stem) if piece.strip()] or [0]
    more = words + _USUAL_WORDS
    return [
        math.log1p(len(stem)),
        *_of_options([option.strip() for option in options]),
        math.log1p(max(sentences)),
        math.log1p(sum(sentences) / len(sentences)),
        math.log1p(sentences[-1]),
        variety(text),
        float(_depth(text)),
        *(math.log1p(sum([text.count(mark) for mark in marks])) for marks in _MARKS),
        len(_NAME.findall(text)) / more,
        math.log1p(len(set(numbers))),
        len(numbers) / more,
        math.log1p(len(_NUMBER.findall(stem)) if options else len(numbers)),
        list(counted.values()).count(1) / more,
        float(min(30, max(map(len, counted), default=0))),
        float(text[:1].isupper()),
    ]


def _of_options(options: list[str]) -> tuple[float, float, float]:
    """Mean length, how much lengths differ, and the share that are numbers."""
    if not options:
        return 0.0, 0.0, 0.0
    lengths = [math.log1p(len(option)) for option in options]
    mean = sum(lengths) / len(lengths)
    spread = math.sqrt(sum([(length - mean) ** 2 for length in lengths]) / len(lengths))
    numeric = sum([1 for option in options if _NUMERIC.match(option)]) / len(options)
    return math.log1p(sum(map(len, options)) / len(options)), spread, numeric


def _depth(text: str) -> int:
    """How deep brackets are nested."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest

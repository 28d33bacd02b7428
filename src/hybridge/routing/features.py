"""Cheap text features of a prompt, the same for English and Chinese: no model, linear time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hybridge.routing.feature_signs import SIGNS

CLIP = 4.0
"""Standardised features beyond this many deviations say nothing more."""
HEAD_CHARS, TAIL_CHARS = 3000, 1000
"""How much of a long text is read; lengths are always scaled to the whole text."""

_WORD = re.compile(r"[a-z]+")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_OPTION = re.compile(r"(?:^|\n)[ \t]*\(?[A-J][.)、]")
_LONG_WORD_CHARS = 10
_MOST_NUMBERS = 50
_MOST_HITS = 3
"""A sign counts at most so often: a text that says `not` thirty times is not ten times as hard."""

_SHAPE = (
    ("log_chars", "length"),
    ("log_words", "words"),
    ("cjk_share", "Chinese text"),
    ("log_lines", "lines"),
    ("log_sentences", "sentences"),
    ("log_numbers", "numbers"),
    ("digit_share", "digits"),
    ("largest_number", "size of numbers"),
    ("log_latex", "formulas"),
    ("log_operators", "operators"),
    ("quote_share", "quotation marks"),
    ("log_brackets", "brackets"),
    ("question_marks", "several questions"),
    ("word_length", "length of words"),
    ("distinct_words", "variety of words"),
    ("upper_share", "capital letters"),
    ("options", "answers to choose from"),
    ("long_word_share", "technical words"),
    ("blank_share", "blanks to fill"),
)

NAMES = tuple(name for name, _ in _SHAPE) + tuple(sign.name for sign in SIGNS)
"""In the order of the vector."""
WORDS = tuple(words for _, words in _SHAPE) + tuple(sign.words for sign in SIGNS)
"""Each feature in words that a reader of a decision understands."""


def features(text: str) -> NDArray[np.float32]:
    """The features of one text, shape `(len(NAMES),)`. About 0.1 ms for 1 kB."""
    read = text if len(text) <= HEAD_CHARS + TAIL_CHARS else text[:HEAD_CHARS] + text[-TAIL_CHARS:]
    lower = read.lower()
    words = _WORD.findall(lower)
    counted = Counter(words)
    scale = max(1.0, len(text) / max(1, len(read)))
    signs = [float(min(_MOST_HITS, sign.count(lower, counted))) for sign in SIGNS]
    return np.array(_shape(read, words, len(counted), scale) + signs, np.float32)


def _shape(text: str, words: list[str], distinct: int, scale: float) -> list[float]:
    """`scale`: how much longer the whole text is than what is read of it."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    ascii_counts = np.bincount(codes[codes < 128], minlength=128).tolist()
    cjk = int(np.count_nonzero((codes >= 0x3400) & (codes <= 0x9FFF)))
    numbers = _NUMBER.findall(text) if any(ascii_counts[48:58]) else []
    chars, lengths = max(1, len(text)), [len(word) for word in words]
    count = max(1, len(words))

    def of(characters: str) -> int:
        return sum(ascii_counts[ord(c)] for c in characters)

    return [
        math.log(chars * scale),
        math.log1p((len(words) + cjk) * scale),
        cjk / chars,
        math.log1p(of("\n") * scale),
        math.log1p((of(".!?") + _wide(text, "。！？")) * scale),
        math.log1p(len(numbers) * scale),
        sum(ascii_counts[48:58]) / chars,
        _magnitude(numbers[:_MOST_NUMBERS]),
        math.log1p(of("\\$") * scale),
        math.log1p(of("+*/=^<>") * scale),
        50 * of('"') / chars,
        math.log1p(of("([{") * scale),
        float(of("?") + text.count("？")),
        sum(lengths) / count,
        distinct / count,
        sum(ascii_counts[65:91]) / chars,
        float(len(_OPTION.findall(text))),
        sum(length >= _LONG_WORD_CHARS for length in lengths) / count,
        20 * of("_") / chars,
    ]


def _wide(text: str, characters: str) -> int:
    return sum(text.count(character) for character in characters)


def _magnitude(numbers: Iterable[str]) -> float:
    """Decimal logarithm of the largest number, at most 20."""
    short = (float(number) for number in numbers if len(number) <= 20)
    return math.log10(1.0 + max(short, default=0.0))

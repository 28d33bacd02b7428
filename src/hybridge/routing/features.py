"""Cheap text features of a prompt, the same for English and Chinese: no model, linear time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from hybridge.learning import lexicon
from hybridge.routing.feature_signs import SIGNS, count_signs
from hybridge.routing.structure import SHAPE as STRUCTURE
from hybridge.routing.structure import structure

CLIP = 4.0
"""Standardised features beyond this many deviations say nothing more."""
HEAD_CHARS, TAIL_CHARS = 3000, 1000
"""How much of a long text is read; lengths are always scaled to the whole text."""
WIDE_CHARS = 3.0
"""Latin letters that one Chinese character stands for; so long is the English of a Chinese text."""

_LETTERS = bytes(code if ord("a") <= code <= ord("z") else ord(" ") for code in range(256))
# Both begin with what `re` can skip to: a set of characters, a literal.
_NUMBER = re.compile(r"[0-9][0-9]*(?:\.[0-9]+)?")
_OPTION = re.compile(r"\n[ \t]*\(?[A-J][.)、]")
_NEWLINE, _QUOTE, _QUESTION, _BLANK = b'\n"?_'
_ENDS, _LATEX, _OPERATORS, _BRACKETS = map(tuple, (b".!?", b"\\$", b"+*/=^<>", b"([{"))
_LONG_WORD_CHARS = 10
_MOST_NUMBERS = 50
_MOST_HITS = 3
"""A sign counts at most so often: a text that says `not` thirty times is not ten times as hard."""
_USUAL_WORDS = 5
"""A text is read as if so many ordinary words were added: two words tell nothing of a vocabulary,
and a Chinese text with none is not a text of extremely short ones."""
_USUAL_LENGTH, _USUAL_DISTINCT, _USUAL_LONG, _USUAL_UPPER = 4.4, 0.7, 0.06, 0.05
_USUAL_PLAIN = 0.4
"""Means over English benchmark prompts."""

_SHAPE = (
    ("log_chars", "long prompt", "short prompt"),
    ("log_words", "long prompt", "short prompt"),
    ("cjk_share", "Chinese text", ""),
    ("log_lines", "many lines", "few lines"),
    ("log_sentences", "many sentences", "few sentences"),
    ("log_numbers", "many numbers", "few numbers"),
    ("digit_share", "many digits", ""),
    ("largest_number", "large numbers", ""),
    ("log_latex", "formulas", ""),
    ("log_operators", "operators", ""),
    ("quote_share", "quotation marks", ""),
    ("log_brackets", "brackets", ""),
    ("question_marks", "asks a question", ""),
    ("word_length", "long words", ""),
    ("distinct_words", "varied vocabulary", ""),
    ("upper_share", "capital letters", ""),
    ("options", "answers to choose from", ""),
    ("long_word_share", "technical words", ""),
    ("blank_share", "blanks to fill", ""),
)

_WORDS = (
    ("function_words", "plain words", "few plain words"),
    ("quantities", "quantities", ""),
    ("question_words", "question words", ""),
    ("reasoning_words", "words of reasoning", ""),
    ("mathematical_words", "mathematical words", ""),
    ("subject_words", "words of a subject", ""),
    ("asks_first", "begins with a question", ""),
)
_TOLD = (*_SHAPE, *((sign.name, sign.words, "") for sign in SIGNS), *_WORDS, *STRUCTURE)

NAMES = tuple(name for name, _, _ in _TOLD)
"""In the order of the vector."""
HIGH_WORDS = tuple(high for _, high, _ in _TOLD)
"""What a high value of each means, in words that a reader of a decision understands."""
LOW_WORDS = tuple(low for _, _, low in _TOLD)
"""What a low value means; empty where the absence is not worth a word."""


def features(text: str, context_chars: int = 0) -> NDArray[np.float32]:
    """The features of one text, shape `(len(NAMES),)`. About 0.2 ms for 1 kB, at most 1 ms.

    `context_chars`: how long what was said before is. It counts as length and as nothing else.
    """
    read = window(text)
    lower = read.lower()
    words = _words(lower)
    counted = Counter(words)
    signs = [float(min(_MOST_HITS, hits)) for hits in count_signs(lower, counted)]
    scale = max(1.0, len(text) / max(1, len(read)))
    shape = _shape(read, words, counted, scale, context_chars)
    rest = _lexical(lower, words, counted) + structure(read, len(words), counted)
    return np.array(shape + signs + rest, np.float32)


def cjk_share(text: str) -> float:
    """The feature of that name alone, 0-1: Chinese, Japanese and Korean among all characters."""
    read = window(text)
    return _wide(read) / max(1, len(read))


def window(text: str) -> str:
    """The part of a text that is read: all of it, or its two ends."""
    return text if len(text) <= HEAD_CHARS + TAIL_CHARS else text[:HEAD_CHARS] + text[-TAIL_CHARS:]


def _words(lower: str) -> list[str]:
    """The runs of `a` to `z`. A table and `split` are several times as fast as a pattern."""
    return lower.encode("ascii", "replace").translate(_LETTERS).decode("ascii").split()


def _shape(
    text: str, words: list[str], counted: Mapping[str, int], scale: float, context_chars: int
) -> list[float]:
    """`scale`: how many times longer the whole text is than what is read of it."""
    ascii_counts = _ascii_counts(text)
    wide, chars = _wide(text), max(1, len(text))
    digits = sum(ascii_counts[48:58])
    numbers = _NUMBER.findall(text) if digits else []
    plain = text.isascii()

    return [
        math.log((chars + (WIDE_CHARS - 1) * wide) * scale + context_chars),
        math.log1p((len(words) + wide) * scale),
        wide / chars,
        math.log1p(ascii_counts[_NEWLINE] * scale),
        math.log1p((_of(ascii_counts, _ENDS) + (0 if plain else _count(text, "。！？"))) * scale),
        math.log1p(len(numbers) * scale),
        digits / chars,
        _magnitude(numbers[:_MOST_NUMBERS]),
        math.log1p(_of(ascii_counts, _LATEX) * scale),
        math.log1p(_of(ascii_counts, _OPERATORS) * scale),
        50 * ascii_counts[_QUOTE] / chars,
        math.log1p(_of(ascii_counts, _BRACKETS) * scale),
        float(ascii_counts[_QUESTION] + (0 if plain else text.count("？"))),
        *_vocabulary(words, len(counted), sum(ascii_counts[65:91])),
        float(_options(text)),
        _share(_long_words(counted), len(words), _USUAL_LONG),
        20 * ascii_counts[_BLANK] / chars,
    ]


def _lexical(lower: str, words: list[str], counted: Mapping[str, int]) -> list[float]:
    """In the order of `_WORDS`: a share of the plain words, logarithms of the others' numbers."""
    plain, *others = lexicon.count(lower, counted)
    return [
        _share(plain, len(words), _USUAL_PLAIN),
        *(math.log1p(number) for number in others),
        float(lexicon.asks_first(words)),
    ]


def _of(ascii_counts: list[int], codes: tuple[int, ...]) -> int:
    return sum([ascii_counts[code] for code in codes])


def _options(text: str) -> int:
    """Lines that begin as a choice does: `A.`, `(B)`."""
    return len(_OPTION.findall(f"\n{text}"))


def _vocabulary(words: list[str], distinct: int, upper: int) -> tuple[float, float, float]:
    """Mean length of the words, share of distinct ones, share of capitals among the letters."""
    letters = len("".join(words))
    return (
        _share(letters, len(words), _USUAL_LENGTH),
        _share(distinct, len(words), _USUAL_DISTINCT),
        (upper + _USUAL_UPPER * _USUAL_WORDS * _USUAL_LENGTH)
        / (letters + _USUAL_WORDS * _USUAL_LENGTH),
    )


def _share(part: float, words: int, usual: float) -> float:
    return (part + usual * _USUAL_WORDS) / (words + _USUAL_WORDS)


def _long_words(counted: Mapping[str, int]) -> int:
    longest = max(map(len, counted), default=0)
    if longest < _LONG_WORD_CHARS:
        return 0
    return sum([times for word, times in counted.items() if len(word) >= _LONG_WORD_CHARS])


def _ascii_counts(text: str) -> list[int]:
    """How often each ASCII character occurs, shape `(128,)`."""
    codes = np.frombuffer(text.encode("ascii", "ignore"), np.uint8)
    counts: list[int] = np.bincount(codes, minlength=128).tolist()
    return counts


def _codes(text: str) -> NDArray[np.uint32]:
    # "surrogatepass": half an emoji in broken JSON must not fail the request.
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _wide(text: str) -> int:
    """Ideographs, kana and hangul: what is written without spaces, or in syllables."""
    if text.isascii():
        return 0
    codes = _codes(text)
    east = (codes >= 0x3040) & (codes <= 0x9FFF)
    hangul = (codes >= 0xAC00) & (codes <= 0xD7A3)
    rare = (codes >= 0x20000) & (codes <= 0x3FFFF)
    return int(np.count_nonzero(east | hangul | rare))


def _count(text: str, characters: str) -> int:
    return sum(text.count(character) for character in characters)


def _magnitude(numbers: Iterable[str]) -> float:
    """Decimal logarithm of the largest number, at most 20."""
    short = (float(number) for number in numbers if len(number) <= 20)
    return math.log10(1.0 + max(short, default=0.0))

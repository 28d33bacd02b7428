"""How long a text is for a language model, and in which scripts it is written."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

SPACE, LOWER, UPPER, DIGIT, PUNCT, LETTER, HAN, KANA, HANGUL, MARK, WIDE, RARE, ASTRAL = range(13)

_RANGES = (
    (0x0000, 0x0020, SPACE),
    (0x0021, 0x007E, PUNCT),
    (0x0030, 0x0039, DIGIT),
    (0x0041, 0x005A, UPPER),
    (0x0061, 0x007A, LOWER),
    (0x00C0, 0x1FFF, LETTER),
    (0x1100, 0x11FF, HANGUL),
    (0x2000, 0x206F, MARK),
    (0x2E80, 0x2FFF, HAN),
    (0x3000, 0x303F, MARK),
    (0x3040, 0x30FF, KANA),
    (0x3100, 0x318F, HANGUL),
    (0x31F0, 0x31FF, KANA),
    (0x3400, 0x9FFF, HAN),
    (0xAC00, 0xD7AF, HANGUL),
    (0xF900, 0xFAFF, HAN),
    (0xFE30, 0xFE4F, MARK),
    (0xFF00, 0xFFEF, MARK),
    (0xFF21, 0xFF3A, WIDE),
    (0xFF41, 0xFF5A, WIDE),
    (0xFFFF, 0xFFFF, ASTRAL),
)
"""Code points by what they cost; a later row wins over an earlier one."""

_COST = dict.fromkeys((DIGIT, PUNCT, LETTER, HAN, KANA, HANGUL, MARK), 1) | {
    WIDE: 2,
    RARE: 2,
    ASTRAL: 3,
}
"""Tokens per character: byte-pair vocabularies of bilingual models (Qwen's among them) give each
digit and nearly each Chinese character a token of its own, and up to four to a rare emoji."""

_LETTERS_PER_TOKEN = 4
_CAPITALS_PER_TOKEN = 2.5
_BLANKS_PER_TOKEN = 16
_BLOB_CHARS = 40
"""A run of ASCII without a space that is longer than this is no word: base64, a hash, a URL."""
_BLOB_EXTRA = 0.5
"""Tokens such a run costs per character on top: base64 comes to about 0.7 in all."""


def _table() -> NDArray[np.uint8]:
    table = np.full(0x10000, RARE, dtype=np.uint8)
    for first, last, kind in _RANGES:
        table[first : last + 1] = kind
    return table


_KINDS = _table()


@dataclass(frozen=True, slots=True)
class Measure:
    """What one look at every character of a text tells."""

    tokens: int
    """Estimated tokens; in doubt too many."""
    latin: int
    """ASCII letters and their full-width forms."""
    han: int
    """Chinese characters, also where Japanese uses them."""
    kana: int
    hangul: int
    letters: int
    """Letters of other alphabets, accented Latin among them."""


def measure(text: str) -> Measure:
    """Reads the whole text once; linear, about 30 ms per million characters."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = _KINDS[np.minimum(codes, 0xFFFF)]
    count = np.bincount(kinds, minlength=ASTRAL + 1).tolist()
    tokens = sum(count[kind] * cost for kind, cost in _COST.items())
    tokens += _words(kinds, count) + _gaps(codes, kinds) + _blobs(kinds)
    return Measure(
        tokens=tokens,
        latin=count[LOWER] + count[UPPER] + count[WIDE],
        han=count[HAN],
        kana=count[KANA],
        hangul=count[HANGUL],
        letters=count[LETTER],
    )


def estimate_tokens(text: str) -> int:
    """Tokens of a text, within a quarter of a real tokenizer's count or above it.

    Against Qwen2.5's own on 1,620 English and Chinese prompts: 0.77 to 2.0 times, 1.0-1.2 in the
    middle for English and 1.67 for Chinese. Rarest characters (龘) can cost more than is counted.

    Chinese counts one token per character, which characters divided by four would make a quarter.
    """
    return measure(text).tokens


def _words(kinds: NDArray[np.uint8], count: list[int]) -> int:
    """One token per word and per hump of a camelCase one, more where words are long."""
    letter = (kinds == LOWER) | (kinds == UPPER)
    starts = letter.copy()
    starts[1:] &= ~letter[:-1] | ((kinds[1:] == UPPER) & (kinds[:-1] == LOWER))
    length = ceil(count[LOWER] / _LETTERS_PER_TOKEN + count[UPPER] / _CAPITALS_PER_TOKEN)
    return max(int(np.count_nonzero(starts)), length)


def _gaps(codes: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> int:
    """Line breaks and indents; the single space between two words is part of the word."""
    blank = kinds == SPACE
    starts = blank.copy()
    starts[1:] &= ~blank[:-1]
    lone = starts & (codes == ord(" "))
    lone[:-1] &= ~blank[1:]
    runs = np.count_nonzero(starts) - np.count_nonzero(lone)
    return int(runs + np.count_nonzero(blank) // _BLANKS_PER_TOKEN)


def _blobs(kinds: NDArray[np.uint8]) -> int:
    """What base64, hashes and other wordless runs cost beyond their letters and digits."""
    if len(kinds) <= _BLOB_CHARS:
        return 0
    breaks = np.flatnonzero((kinds == SPACE) | (kinds > PUNCT))
    ends = np.concatenate(([-1], breaks, [len(kinds)]))
    runs = ends[1:] - ends[:-1] - 1
    return ceil(_BLOB_EXTRA * int(runs[runs > _BLOB_CHARS].sum()))

"""How long a text is for a language model, and in which scripts it is written."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

import numpy as np
from msgspec import Struct

SPACE, BLANK, LOWER, UPPER, DIGIT, PUNCT = range(6)
LETTER, HAN, KANA, HANGUL, MARK, WIDE, RARE, ASTRAL = range(6, 14)

_RANGES = (
    (0x0000, 0x001F, BLANK),
    (0x0020, 0x0020, SPACE),
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


def _coarse(**names: Iterable[int]) -> bytes:
    """A table for `bytes.translate`: each kind as the letter it is listed under, others as `.`."""
    table = bytearray(b"." * 256)
    for name, kinds in names.items():
        for kind in kinds:
            table[kind] = ord(name)
    return bytes(table)


_KINDS = np.full(0x10000, RARE, dtype=np.uint8)
for _first, _last, _kind in _RANGES:
    _KINDS[_first : _last + 1] = _kind
_ASCII_KINDS = _KINDS[:256].tobytes()
_CASES = _coarse(a=(LOWER,), A=(UPPER,))
_BLANKS = _coarse(s=(SPACE,), b=(BLANK,))
_RUNS = _coarse(x=(LOWER, UPPER, DIGIT, PUNCT))
_BLOB = b"x" * (_BLOB_CHARS + 1)


class Measure(Struct, frozen=True):
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
    """Reads the whole text once; linear, about 5 µs and 15 ms per million characters."""
    kinds = _kinds(text)
    count = _count(kinds)
    return Measure(
        tokens=_tokens(kinds, count),
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
    kinds = _kinds(text)
    return _tokens(kinds, _count(kinds))


def _kinds(text: str) -> bytes:
    """The kind of each character. Bytes, because their methods count at the speed of memory."""
    if text.isascii():
        return text.encode("ascii").translate(_ASCII_KINDS)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return _KINDS[np.minimum(codes, 0xFFFF)].tobytes()


def _count(kinds: bytes) -> list[int]:
    """How many characters there are of each kind."""
    counted: list[int] = np.bincount(np.frombuffer(kinds, np.uint8), minlength=ASTRAL + 1).tolist()
    return counted


def _tokens(kinds: bytes, count: list[int]) -> int:
    tokens = _words(kinds, count) + _gaps(kinds, count) + _blobs(kinds)
    for kind, cost in _COST.items():
        tokens += count[kind] * cost
    return tokens


def _words(kinds: bytes, count: list[int]) -> int:
    """One token per word and per hump of a camelCase one, more where words are long."""
    cases = kinds.translate(_CASES) + b"."
    words = cases.count(b"a.") + cases.count(b"A.") + cases.count(b"aA")
    length = count[LOWER] / _LETTERS_PER_TOKEN + count[UPPER] / _CAPITALS_PER_TOKEN
    return max(words, ceil(length))


def _gaps(kinds: bytes, count: list[int]) -> int:
    """Line breaks and indents; the single space between two words is part of the word."""
    blanks = b"." + kinds.translate(_BLANKS)
    runs = blanks.count(b".ss")
    if count[BLANK]:  # few texts of one paragraph have any
        runs += blanks.count(b".b") + blanks.count(b".sb")
    return runs + (count[SPACE] + count[BLANK]) // _BLANKS_PER_TOKEN


def _blobs(kinds: bytes) -> int:
    """What base64, hashes and other wordless runs cost beyond their letters and digits."""
    runs = kinds.translate(_RUNS)
    if len(runs) <= _BLOB_CHARS or _BLOB not in runs:
        return 0
    return ceil(_BLOB_EXTRA * sum(len(run) for run in runs.split(b".") if len(run) > _BLOB_CHARS))

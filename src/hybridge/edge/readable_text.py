"""Text as libraries in other languages take it, with every character where it was."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_SURROGATE = re.compile("[\ud800-\udfff]")
SIZE = 4_096
"""Characters of a piece."""
MARGIN = 128
"""Overlap of two pieces on either side: longer than any name with what it is known by."""


class Piece(Struct, frozen=True):
    """A part of a text that is looked at by itself, for a library whose work grows faster than the
    text does."""

    text: str
    start: int
    """Index of its first character in the whole text."""
    first: int
    """It speaks for what begins from here on, an index within it,"""
    last: int
    """and before here."""


def pieces(text: str) -> Iterator[Piece]:
    """Each character belongs to one piece, clear of its edges where there is more text."""
    for low in range(0, max(1, len(text) - 2 * MARGIN), SIZE - 2 * MARGIN):
        first = MARGIN if low else 0
        last = SIZE - MARGIN if low + SIZE < len(text) else SIZE
        yield Piece(text[low : low + SIZE], low, first, last)


def without_surrogates(text: str) -> str:
    """The same with each half of a broken pair, which UTF-8 cannot hold, as `\ufffd`."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)

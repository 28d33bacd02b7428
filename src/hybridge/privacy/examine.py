"""Runs the detectors over a whole request and says which part of it holds what."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from msgspec import Struct

from hybridge.privacy.contents import Piece, readable
from hybridge.privacy.finding import Finding
from hybridge.privacy.view import BOUNDARY

Detect = Callable[[str], Sequence[Finding]]
"""What is found in one text."""


class Examined(Struct, frozen=True):
    """What is known of a request's contents."""

    findings: tuple[Finding, ...] = ()
    """Indexes are those within the string that holds the value; `place` says where that stands."""
    unread: int = 0
    """Attachments that no detector can look into."""


def examine(pieces: list[Piece], detect: Detect) -> Examined:
    """All strings in one pass: many short ones cost as little as one long one."""
    contents = readable(pieces)
    parts = _parts(contents.pieces)
    found = detect("".join(parts))
    if not found:
        return Examined((), contents.unread)
    starts = [0, *accumulate(map(len, parts))]
    return Examined(tuple(_placed(found, contents.pieces, starts)), contents.unread)


def _parts(pieces: Sequence[Piece]) -> list[str]:
    """A key reads as the label of its value, and nothing reads across other strings."""
    return [
        f"{piece.text.replace(BOUNDARY, ' ')}{': ' if piece.key else BOUNDARY}" for piece in pieces
    ]


def _placed(
    found: Sequence[Finding], pieces: Sequence[Piece], starts: list[int]
) -> Iterator[Finding]:
    """One finding for each string that it reaches into: nearly always that is a single one."""
    for finding in found:
        index = bisect_right(starts, finding.start) - 1
        while index < len(pieces) and starts[index] < finding.end:
            at, piece = starts[index], pieces[index]
            start, end = max(finding.start - at, 0), min(finding.end - at, len(piece.text))
            if start < end:
                yield Finding(finding.type, start, end, finding.level, piece.place)
            index += 1

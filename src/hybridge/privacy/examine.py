"""Runs the detectors over a whole request and says which part of it holds what."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from hybridge.privacy.contents import Piece, readable
from hybridge.privacy.finding import Finding
from hybridge.privacy.view import BOUNDARY

Detect = Callable[[str], Sequence[Finding]]
"""What is found in one text."""


class Value(Struct, frozen=True):
    """Personal data as it literally stands in a request. Only who hides it gets to see it."""

    type: str
    text: str

    def __repr__(self) -> str:
        return f"Value({self.type})"


class Examined(Struct, frozen=True):
    """What is known of a request's contents."""

    findings: tuple[Finding, ...] = ()
    """Indexes are those within the string that holds the value; `place` says where that stands."""
    unread: int = 0
    """Attachments that no detector can look into."""


def examine(pieces: list[Piece], detect: Detect) -> Examined:
    """All strings in one pass: many short ones cost as little as one long one."""
    contents = readable(pieces)
    found = _found(contents.pieces, detect)
    return Examined(tuple([finding for finding, _ in found]), contents.unread)


def values(pieces: list[Piece], detect: Detect) -> list[tuple[Finding, Value]]:
    """What `examine` finds, each with the value itself."""
    return [
        (finding, Value(finding.type, piece.text[finding.start : finding.end]))
        for finding, piece in _found(readable(pieces).pieces, detect)
    ]


def _found(pieces: Sequence[Piece], detect: Detect) -> list[tuple[Finding, Piece]]:
    parts = _parts(pieces)
    found = detect("".join(parts))
    if not found:
        return []
    starts = [0, *accumulate(map(len, parts))]
    return list(_placed(found, pieces, starts))


def _parts(pieces: Sequence[Piece]) -> list[str]:
    """A key reads as the label of its value, and nothing reads across other strings."""
    return [
        f"{piece.text.replace(BOUNDARY, ' ')}{': ' if piece.key else BOUNDARY}" for piece in pieces
    ]


def _placed(
    found: Sequence[Finding], pieces: Sequence[Piece], starts: list[int]
) -> Iterator[tuple[Finding, Piece]]:
    for finding in found:
        index = bisect_right(starts, finding.start) - 1
        at, piece = starts[index], pieces[index]
        end = min(finding.end - at, len(piece.text))
        yield replace(finding, start=finding.start - at, end=end, place=piece.place), piece

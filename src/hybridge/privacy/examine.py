"""Runs the detectors over a whole request and says which part of it holds what."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from msgspec import Struct

from hybridge.core.request import Request
from hybridge.privacy.contents import Piece, contents, readable
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


NOTHING = Examined()
"""What is known of most."""


def examine(pieces: list[Piece], detect: Detect) -> Examined:
    """All strings in one pass: many short ones cost as little as one long one."""
    read = readable(pieces)
    parts = _parts(read.pieces)
    found = _placed(detect("".join(parts)), read.pieces, parts)
    return Examined(tuple([finding for finding, _ in found]), read.unread)


def examine_plain(request: Request, text: str, detect: Detect) -> Examined:
    """The same where `contents.plain_text` gave the request's text: only what holds something is
    taken apart."""
    found = detect(text)
    if not found:
        return NOTHING
    pieces = contents(request)
    placed = _placed(found, pieces, _parts(pieces))
    return Examined(tuple([finding for finding, _ in placed]))


def values(pieces: list[Piece], detect: Detect) -> list[tuple[Finding, Value]]:
    """What `examine` finds, each with the value itself."""
    read = readable(pieces).pieces
    parts = _parts(read)
    return [
        (finding, Value(finding.type, piece.text[finding.start : finding.end]))
        for finding, piece in _placed(detect("".join(parts)), read, parts)
    ]


def _parts(pieces: Sequence[Piece]) -> list[str]:
    """A key reads as the label of its value, and nothing reads across other strings."""
    return [
        f"{piece.text.replace(BOUNDARY, ' ')}{': ' if piece.key else BOUNDARY}" for piece in pieces
    ]


def _placed(
    found: Sequence[Finding], pieces: Sequence[Piece], parts: Sequence[str]
) -> list[tuple[Finding, Piece]]:
    if not found:
        return []
    return list(_in_place(found, pieces, [0, *accumulate(map(len, parts))]))


def _in_place(
    found: Sequence[Finding], pieces: Sequence[Piece], starts: list[int]
) -> Iterator[tuple[Finding, Piece]]:
    """One finding for each string that it reaches into: nearly always that is a single one."""
    for finding in found:
        index = bisect_right(starts, finding.start) - 1
        while index < len(pieces) and starts[index] < finding.end:
            at, piece = starts[index], pieces[index]
            start, end = max(finding.start - at, 0), min(finding.end - at, len(piece.text))
            if start < end:
                yield Finding(finding.type, start, end, finding.level, piece.place), piece
            index += 1
